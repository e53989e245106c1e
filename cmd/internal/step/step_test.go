package step

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/cmd/internal/filter"
	"github.com/ptdecode/ptdecode/cmd/internal/recorded"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/pt"
)

// TestWalk would catch a seam between what is decoded at first and what is decoded when
// keys lead on: an instruction that is stepped over, or one that comes twice. It walks
// through a stream in small windows, forwards and backwards from several places, and
// compares with what the session gives. It would also catch a window that decodes all.
func TestWalk(t *testing.T) {
	const stream = 1
	s, _ := recorded.Pokes(t, "kprobes")
	var want []uint64
	var times []uint64 // of each
	for r, err := range s.Ranges(t.Context(), decoder.Query{Streams: []int{stream}, Bounds: true}) {
		if err != nil {
			t.Fatal(err)
		}
		x := r.Addr
		set, mode := s.ISA()
		for range r.Instructions {
			want, times = append(want, x), append(times, r.Time.Lo)
			x += length(t, s, set, mode, &r, x)
		}
	}
	from := func(at uint64, most int) *cursor {
		w := &window{s: s, stream: stream, at: at, most: most}
		if err := w.more(t.Context()); err != nil {
			t.Fatal(err)
		}
		return &cursor{window: w, ctx: t.Context()}
	}
	walk := func(c *cursor, go1 func() (bool, error)) (got []uint64) {
		for {
			x, ok := c.here()
			if !ok {
				t.Fatal("stands nowhere")
			}
			got = append(got, x.addr(c.k))
			if ok, err := go1(); err != nil || !ok {
				if err != nil {
					t.Fatal(err)
				}
				return got
			}
		}
	}
	c := from(0, 700)
	if got := walk(c, c.next); !slices.Equal(got, want) {
		t.Errorf("forwards %d instructions, want %d", len(got), len(want))
	}
	for _, part := range []int{4, 2} {
		at := times[len(times)-len(times)/part]
		c = from(at, 300)
		if part == 4 && c.read > 30_000 {
			t.Errorf("%d ranges were decoded for the first window", c.read)
		}
		ahead := walk(c, c.next)
		c = from(at, 300)
		back := walk(c, c.previous)
		slices.Reverse(back)
		if got := append(back[:len(back)-1], ahead...); !slices.Equal(got, want) {
			t.Errorf("from %d: %d instructions, want %d", at, len(got), len(want))
		}
	}
}

// TestCalledAtSeam would catch a call that C passes over because what was decoded last begins
// with the function: the call is the end of the segment before.
func TestCalledAtSeam(t *testing.T) {
	dir := t.TempDir()
	trace, err := pt.Assemble(nil, "psb\nmode.exec l\nfup 6: 0x1000\npsbend\n"+
		"psb\nmode.exec l\nfup 6: 0x1010\npsbend\ntip 6: 0x1005\ntip.pgd\n")
	if err != nil {
		t.Fatal(err)
	}
	code := make([]byte, 0x11)
	copy(code, "\xe8\x0b\x00\x00\x00\xff\xe0") // 1000: call 1010; 1005: jmp *%rax
	code[0x10] = 0xc3
	for name, b := range map[string][]byte{"trace": trace, "code": code} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s, err := decoder.Open(decoder.Config{
		Raw:  []decoder.RawTrace{{Protocol: decoder.IntelPT, Path: filepath.Join(dir, "trace")}},
		Code: []decoder.CodeFile{{Path: filepath.Join(dir, "code"), Addr: 0x1000}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c := &cursor{window: &window{s: s, of: s, most: 1}, ctx: t.Context()}
	if ok, err := c.previous(); err != nil || !ok {
		t.Fatal("nothing ran", err)
	}
	found, err := c.toCall(true)
	x, ok := c.here()
	if err != nil || !found || !ok || x.addr(c.k) != 0x1010 {
		t.Errorf("C found %v, %v, of %d items", found, err, len(c.items))
	}
}

// length returns the length of the instruction at addr, as of r.
func length(t *testing.T, s *decoder.Session, set isa.Decoder, mode isa.Mode, r *decoder.Range, addr uint64) uint64 {
	t.Helper()
	var text [15]byte
	var in isa.Insn
	n := s.Code(text[:], r.Space, addr, r.Epochs.From)
	if set.Decode(&in, text[:n], addr, mode); in.Len == 0 {
		t.Fatalf("no instruction at %#x", addr)
	}
	return uint64(in.Len)
}

// TestSome would catch a screen with thousands of gaps, and one that leaves out the gap right before the stop.
func TestSome(t *testing.T) {
	notes := []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}
	if got := some(notes[:8]); !slices.Equal(got, notes[:8]) {
		t.Errorf("%q", got)
	}
	if got := some(notes); !slices.Equal(got, []string{"0", "1", "2", "3", "4", "5", "... 3 more", "9"}) {
		t.Errorf("%q", got)
	}
}

// TestBeginsOn would catch a change of a snapshot to which the stepper goes on another CPU than
// the one that made it.
func TestBeginsOn(t *testing.T) {
	w := &stepper{s: recorded.Arm(t, "a57-jump")}
	for cpu, want := range map[int][]int{-1: {0, 1}, 0: {0, 1}, 1: {1, 0}} {
		if got := w.candidates(nil, cpu); !slices.Equal(got, want) {
			t.Errorf("CPU %d: streams %d, want %d", cpu, got, want)
		}
	}
	made := &filter.Makers{CPUs: "1"} // it made no change, but was traced
	if err := cmp.Or(made.Read(), made.Check(w.s)); err != nil {
		t.Error(err)
	}
}
