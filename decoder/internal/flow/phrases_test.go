package flow

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/isa/x86"
	"github.com/ptdecode/ptdecode/decoder/testsize"
	"github.com/ptdecode/ptdecode/pt"
)

// ran is a range as delivered, with its stamp.
type ran struct {
	Addr    uint64
	N       uint16
	Verdict Verdict
	Flags   rangeFlags
	Stamp   Stamp
}

// everything is a Sink that keeps all that is delivered.
type everything struct {
	ranges []ran
	notes  []Note
}

func (k *everything) Flow(b *Batch) error {
	for _, n := range b.Notes {
		n.At += len(k.ranges)
		n.Others = slices.Clone(n.Others)
		k.notes = append(k.notes, n)
	}
	for _, r := range b.Ranges {
		k.ranges = append(k.ranges, ran{r.Block.Addr, r.N, r.Verdict, r.flags, b.Stamps[r.Stamp]})
	}
	return nil
}

// filler is a Filler that does not tell of its bytes.
type filler struct{ d *pt.Decoder }

func (f filler) Next(e *event.Event) bool { return f.d.Next(e) }
func (f filler) Fill(q []event.Event) int { return f.d.Fill(q) }

// TestLittle would catch a walk over little that keeps the bytes which it passed, or paths.
func TestLittle(t *testing.T) {
	p := openProgram(t, "foo")
	for _, little := range []bool{false, true} {
		w := NewWalker(p.text, NewCache(), Config{ISA: x86.Decoder{}, Rules: ptRules, Mode: isa.Mode64, Little: little})
		walk := func(source func(d *pt.Decoder) Source) {
			for _, s := range p.segments() {
				if err := w.Run(source(pt.NewDecoder(p.Config, s)), new(everything)); err != nil {
					t.Fatal(err)
				}
			}
		}
		walk(func(d *pt.Decoder) Source { return d })
		if kept := w.paths.phrases != nil && w.paths.phrases.n > 0; kept == little {
			t.Errorf("little %v: phrases are kept: %v", little, kept)
		}
		w.paths.misses = pathAfter
		for range 2 {
			walk(func(d *pt.Decoder) Source { return filler{d} })
		}
		if kept := w.paths.n > 0; kept == little {
			t.Errorf("little %v: paths are kept: %v", little, kept)
		}
	}
}

// TestPhrases holds the walk over phrases to the walk over events: they deliver the same
// ranges with the same stamps and notes. It would catch a phrase that is taken for
// another, one that leads elsewhere, or a return stack that it leaves otherwise. The
// walk goes over each segment twice: phrases are made first, and then used.
func TestPhrases(t *testing.T) {
	most := testsize.Of(t, 2, 5, 7) // of the list, where returns are no outcomes
	for i, name := range testsize.Some(t, []string{"avscript_32", "foo", "unzip", "icelake_tip", "dyn_test", "mruby", "qemu"}, 2) {
		p := openProgram(t, name)
		segs := p.segments()
		for _, rules := range []isa.ReturnRule{isa.ReturnsCompressed, isa.ReturnsByTarget} {
			if rules == isa.ReturnsByTarget && i >= most {
				continue
			}
			cfg := Config{ISA: x86.Decoder{}, Rules: ptRules, Mode: isa.Mode64}
			cfg.Rules.Returns = rules
			cache := NewCache()
			fast, slow := NewWalker(p.text, cache, cfg), NewWalker(p.text, cache, cfg)
			for _, s := range segs {
				var want everything
				if err := slow.Run(filler{pt.NewDecoder(p.Config, s)}, &want); err != nil {
					t.Fatal(err)
				}
				for _, pass := range thrice[:2] {
					var got everything
					if err := fast.Run(pt.NewDecoder(p.Config, s), &got); err != nil {
						t.Fatal(err)
					}
					if !slices.Equal(got.ranges, want.ranges) {
						t.Fatalf("%s +%#x, %s: other ranges: -want +got\n%.3000s", name, s.Off, pass, cmp.Diff(want.ranges, got.ranges))
					}
					if d := cmp.Diff(want.notes, got.notes, cmp.AllowUnexported(Note{})); d != "" {
						t.Fatalf("%s +%#x, %s: other notes: -want +got\n%.3000s", name, s.Off, pass, d)
					}
				}
			}
			if fast.paths.phrases == nil || fast.paths.phrases.n == 0 {
				t.Errorf("%s: no phrase was made", name)
			}
			if trouble := fast.paths.wrongMarks(fast.exec.out.wait.told); trouble != "" {
				t.Errorf("%s: %s", name, trouble)
			}
			if slow.paths.phrases != nil {
				t.Errorf("%s: phrases were made of a source that does not tell of its bytes", name)
			}
		}
	}
}

// wrongMarks tells of a phrase that does not mark the ranges behind which the trace stated
// the target, if there is one. How far a contradiction makes the flow before it doubtful
// counts these marks.
func (ps *Paths) wrongMarks(told bool) string {
	for i := range ps.phrases.n {
		p := ps.phrases.nth(uint32(i))
		var want []uint8
		for k, r := range p.ranges() {
			if r.Block.targetStated(told) {
				want = append(want, uint8(k))
			}
		}
		if got := p.mark[:p.marks]; !slices.Equal(got, want) {
			return fmt.Sprintf("phrase at %x marks ranges %d, not %d", p.from.Addr, got, want)
		}
	}
	return ""
}

// TestPhraseKey would catch a phrase that is taken where the block, the bytes, or what
// addresses in them are relative to are others.
func TestPhraseKey(t *testing.T) {
	ps, b, buf := new(phrases), &Block{Addr: 0x1000}, make([]byte, phraseBytes)
	_, h := ps.known(b, buf, 0)
	p := ps.fresh(h, nil)
	*p = phrase{from: b, mask: 0xffff_ffff_0000, upper: 0xffff_0000_0000}
	other := slices.Clone(buf)
	other[phraseBytes-1] = 1
	for _, c := range []struct {
		what string
		b    *Block
		buf  []byte
		last uint64
		want *phrase
	}{
		{"the same", b, buf, 0xffff_0000_0000, p},
		{"other bits that the bytes give", b, buf, 0xffff_0000_1234, p},
		{"other bits that they leave open", b, buf, 0xffff_0001_0000, nil},
		{"another last byte", b, other, 0xffff_0000_0000, nil},
		{"another block there", &Block{Addr: 0x1000}, buf, 0xffff_0000_0000, nil},
	} {
		if got, _ := ps.known(c.b, c.buf, c.last); got != c.want {
			t.Errorf("%s: %p, want %p", c.what, got, c.want)
		}
	}
}

// TestReenact would catch a return stack that a phrase leaves otherwise than its calls and
// returns do one by one. It tries stacks that are too shallow, full, or in part a guess.
func TestReenact(t *testing.T) {
	call, ret, jump := &Block{End: 8, lead: toTarget | calls}, &Block{lead: toStated | returns}, &Block{lead: toTarget}
	for seed := range 1 << 12 {
		var s ReturnStack
		s.depth = 4
		for i := range uint64(seed >> 9) {
			s.Push(i, call)
		}
		s.vague = min(seed>>7&3, s.n)
		var c composer
		p := &phrase{}
		c.p = p
		for i := range 7 {
			b := jump
			if i < 6 {
				b = []*Block{call, ret, jump, {End: uint64(100 + i), lead: toStated | calls}}[seed>>i&3]
			}
			c.b = b
			if !c.goThrough(jump) {
				t.Fatal("no room")
			}
		}
		if c.height-c.low > phraseCalls {
			continue
		}
		p.pops, p.deep, p.open = uint8(-c.low), uint8(c.high), uint8(c.height-c.low)
		copy(p.call[:], c.call[:p.open])
		want := s
		for _, r := range c.rs[:c.n] {
			switch {
			case r.Block.lead&calls != 0:
				want.Push(r.Block.End, r.Block)
			case r.Block.lead&returns != 0:
				want.Pop()
			}
		}
		s.reenact(c.rs[:c.n], p.call[:p.open], int(p.pops), int(p.deep))
		if !s.Equal(&want) || s.vague != want.vague || s.guessed() != want.guessed() {
			t.Fatalf("seed %d: %d entries, %d vague; want %d and %d", seed, s.n, s.vague, want.n, want.vague)
		}
	}
}

// TestPast would catch an event that was passed over as part of a phrase and is told
// otherwise when a flow looks back.
func TestPast(t *testing.T) {
	buf := []byte{0x1c, 0x2d, 0x34, 0x12, 0x00, 0x06, 0x0d + 2<<5, 1, 2, 3, 4, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82}
	buf = append(buf, make([]byte, phraseBytes)...)
	var q queue
	q.start(&strict{t: t}, false)
	q.bytes = pt.NewDecoder(pt.Config{}, event.Segment{})
	q.passed(7, past{buf: buf[:11], off: 100, last: 0xffff_0000, known: true})
	for i, want := range []event.Event{
		{Kind: event.Outcomes, Value: 0b110 << 61, N: 3, Last: 3, Off: 100, End: 101},
		{Kind: event.Target, Flags: event.FlagIP, IP: 0xffff_1234, Off: 101, End: 104},
		{Kind: event.Outcomes, Value: 1 << 63, N: 1, Last: 1, Off: 105, End: 106},
		{Kind: event.Target, Flags: event.FlagIP, IP: 0x04030201, Off: 106, End: 111},
	} {
		if e := q.usedEvent(3 + i); e == nil || *e != want {
			t.Errorf("event %d: %+v, want %+v", i, e, want)
		}
	}
	if e := q.usedEvent(2); e != nil {
		t.Errorf("before all that is held: %+v", e)
	}
}
