package kcore

import (
	"bytes"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/kcore/image"
	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// unrecorded are the changes without a record, which the recordings' own
// README names. late: the late kcore alone shows it.
var unrecorded = map[string]struct {
	addr uint64
	late bool
}{
	"kprobes":            {0xffffffffc0406094, true},
	"ftrace":             {0xffffffffc0406094, true},
	"tracepoints-coarse": {0xffffffffc0406094, true},
	"journal":            {0xffffffffc0549094, false},
}

// symbols returns the recording's symbols.
func (r *recording) symbols(t testing.TB) *symbols.Table {
	t.Helper()
	k, err := symbols.OpenKallsyms(r.dir + "/perf.data/kcore_dir/kallsyms")
	if err != nil {
		t.Fatal(err)
	}
	mods, err := symbols.OpenModules(r.dir + "/perf.data/kcore_dir/modules")
	if err != nil {
		t.Fatal(err)
	}
	return symbols.New(k, mods, symbols.Ksymbols(r.ksyms))
}

// text builds the recording's text on one of its kcores.
func (r *recording) text(t testing.TB, kcore string) *Text {
	t.Helper()
	img, err := image.Open(kcore, image.Options{})
	if err != nil {
		t.Fatal(err)
	}
	j, err := NewJournal(append([]Poke(nil), r.pokes...))
	if err != nil {
		t.Fatal(err)
	}
	return NewText(j, img, TextOptions{Symbols: r.symbols(t)})
}

// TestRecordedFindings would catch a change that is not reported, and a false
// alarm: each recording has the findings that are known of it and no other.
func TestRecordedFindings(t *testing.T) {
	for _, name := range recordings {
		r := readRecording(t, name)
		for _, kcore := range []string{r.before, r.after} {
			tx := r.text(t, kcore)
			u, any := unrecorded[name]
			any = any && (!u.late || kcore == r.after)
			fs := tx.Findings()
			switch {
			case !any && len(fs) > 0:
				t.Errorf("%s, %s: finding %s, want none", name, kcore[len(r.dir):], &fs[0])
			case any && (len(fs) != 1 || fs[0].Addr != u.addr):
				t.Errorf("%s, %s: %d findings %v, want one at %#x", name, kcore[len(r.dir):], len(fs), fs, u.addr)
			}
			if p := tx.Placement(); p.Moved != 0 || p.Half != 0 || p.Foreign() {
				t.Errorf("%s, %s: placement %+v, want every site at one moment", name, kcore[len(r.dir):], p)
			}
		}
	}
	f := readRecording(t, "journal").findings(t)[0]
	if want := (Finding{
		Kind: Break, Addr: 0xffffffffc0549094, Last: 625, Next: 626, Span: event.Span{From: 626, Until: 627},
		Have: []byte{0xe8, 0xe7, 0x9e, 0xf0, 0xe2}, Want: []byte{0xe8, 0x07, 0x75, 0x2b, 0xe3},
		From: 11185896369, Until: 11244697897,
	}); f.String() != want.String() || f.Span != want.Span || f.Last != want.Last {
		t.Errorf("journal: finding %+v\nwant %+v", f, want)
	}
}

func (r *recording) findings(t testing.TB) []Finding { return r.text(t, r.before).Findings() }

// writeAndRead returns the text at an epoch written as a kcore and read back.
func writeAndRead(t *testing.T, tx *Text, e event.Epoch) *image.Image {
	t.Helper()
	var b bytes.Buffer
	if err := WriteKcore(&b, tx, e, isa.Mode64); err != nil {
		t.Fatal(err)
	}
	img, err := image.Read(bytes.NewReader(b.Bytes()), int64(b.Len()), "written", image.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// TestRecordedEnds would catch a poke applied in the wrong order or direction,
// one left out, and unknown code written as zeros. The code at the end, made from
// the early kcore, is the late kcore. The code at the start, made from the late
// one, is the early one.
func TestRecordedEnds(t *testing.T) {
	for _, name := range recordings {
		r := readRecording(t, name)
		early, late := r.text(t, r.before), r.text(t, r.after)
		end, start := writeAndRead(t, early, event.Epoch(early.Len())), writeAndRead(t, late, 0)
		last := map[uint64]*Poke{}   // by byte: the last poke there
		appears := map[uint64]bool{} // a record with empty old text covers it
		j := early.Journal()
		for i := 0; i < j.Len(); i++ {
			p := j.Poke(i)
			for d := range p.size() {
				a := p.Addr + uint64(d)
				last[a] = p
				appears[a] = appears[a] || len(p.Old) == 0
			}
		}
		var ends, starts, unknown, zeros int
		for a, p := range last {
			u := unrecorded[name]
			odd := u.late && a-u.addr < 5
			got, has := byteAt(end, a)
			want, held := byteAt(late.Image(), a)
			if held && len(p.New) > 0 && !odd {
				ends++
				if !has || got != want {
					t.Errorf("%s: at the end %#x is %02x (known: %v), the late kcore has %02x", name, a, got, has, want)
				}
			}
			got, has = byteAt(start, a)
			want, held = byteAt(early.Image(), a)
			switch {
			case appears[a]:
				unknown++
				if has {
					t.Errorf("%s: at the start %#x is %02x, want unknown", name, a, got)
				}
				if held && want == 0 {
					zeros++
				}
			case held && !odd:
				starts++
				if !has || got != want {
					t.Errorf("%s: at the start %#x is %02x (known: %v), the early kcore has %02x", name, a, got, has, want)
				}
			}
		}
		t.Logf("%s: %d bytes compared at the end, %d at the start; %d unknown at the start, %d of them zeros in the early kcore", name, ends, starts, unknown, zeros)
		if ends < 400 || starts < 400 {
			t.Errorf("%s: %d and %d bytes compared, want hundreds", name, ends, starts)
		}
	}
}

func byteAt(img *image.Image, a uint64) (byte, bool) {
	var b [1]byte
	n := img.ReadAt(b[:], a)
	return b[0], n == 1
}

// TestRecordedBothWays would catch any difference between code reached forward
// from the early kcore and backward from the late one. At every epoch, what both
// know of a poked byte is the same.
func TestRecordedBothWays(t *testing.T) {
	for _, name := range []string{"journal", "kprobes"} {
		r := readRecording(t, name)
		early, late := r.text(t, r.before), r.text(t, r.after)
		var both, one int
		for i := range early.Len() {
			p := early.Poke(i)
			for e := range event.Epoch(early.Len() + 1) {
				var x, y [5]byte
				n, _ := early.Fetch(x[:], p.Addr, e)
				m, _ := late.Fetch(y[:], p.Addr, e)
				if k := min(n, m); !bytes.Equal(x[:k], y[:k]) {
					t.Fatalf("%s: %#x at epoch %d: % x forward, % x backward", name, p.Addr, e, x[:n], y[:m])
				} else if both += k; n != m {
					one++
				}
			}
		}
		t.Logf("%s: %d bytes known both ways, %d places where one way knows more", name, both, one)
	}
}

// TestRecordedSymbols would catch an address given to a neighbour. What lies
// behind the last module, in slots and in trampolines has no name but the one
// that a record gave it.
func TestRecordedSymbols(t *testing.T) {
	r := readRecording(t, "journal")
	syms := r.symbols(t)
	var named, none, slots int
	for _, p := range r.pokes {
		s, off, ok := syms.Lookup(p.Addr, p.Time)
		switch {
		case p.Addr >= 0xffffffffc0548000: // behind virtio_blk, the last module
			none++
			if ok {
				t.Errorf("%#x is %s, want no symbol", p.Addr, s.Format(off))
			}
		case p.Addr >= 0xffffffffc0517000 && p.Addr < 0xffffffffc051d000, p.Addr >= 0xffffffffc0522000 && p.Addr < 0xffffffffc0527000, p.Addr >= 0xffffffffc052b000 && p.Addr < 0xffffffffc052f000:
			slots++
			if ok && s.Name != "ftrace_trampoline" && s.Name != "kprobe_insn_page" && s.Name != "kprobe_optinsn_page" {
				t.Errorf("%#x is %s, want a slot or no symbol", p.Addr, s.Format(off))
			}
		default:
			named++
			if !ok {
				t.Errorf("%#x has no symbol", p.Addr)
			}
		}
	}
	if named < 500 || none < 40 || slots < 20 {
		t.Errorf("%d named, %d behind all modules, %d in slots: the recording is not what it was", named, none, slots)
	}
	// As perf reads the same file (perf script --show-text-poke-events).
	for addr, want := range map[uint64]string{
		0xffffffffa3800490: "__SCT__tp_func_sched_wakeup",
		0xffffffffa2ae1ad9: "try_to_wake_up+0x3d9",
		0xffffffffa2adf8ae: "ttwu_do_wakeup+0x1e",
	} {
		if s, off, _ := syms.Lookup(addr, 0); s.Format(off) != want {
			t.Errorf("%#x is %s, want %s", addr, s.Format(off), want)
		}
	}
}
