package flow

import (
	"math/rand/v2"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/isa/x86"
	"github.com/ptdecode/ptdecode/pt"
)

// TestGain would catch phrases that are made on and on though they do not pay, and a rest
// that is as long as before where they paid meanwhile.
func TestGain(t *testing.T) {
	var ps phrases
	const pays = gainLeast * gainTrial
	for i, c := range []struct{ bytes, rest int }{
		{pays, 0}, {pays - 1, restLeast}, {0, 2 * restLeast}, {pays, 0}, {0, restLeast},
	} {
		ps.gain.bytes += c.bytes
		for range gainTrial {
			ps.gain.paid(new(phrase))
		}
		n := 0
		for ps.rest(new(queue)) {
			n++
		}
		if n != c.rest {
			t.Errorf("trial %d, %d bytes: a rest of %d look-ups, want %d", i, c.bytes, n, c.rest)
		}
	}
	for range 20 * gainTrial {
		ps.gain.paid(new(phrase))
	}
	if ps.gain.rest != restMost {
		t.Errorf("after 20 trials in vain: a rest of %d look-ups, want %d", ps.gain.rest, restMost)
	}
}

// TestSeldomRepeats would catch a walk that makes a phrase of all that it comes to, where the
// trace does not say the same again. It counts what is made of a trace whose targets are random.
func TestSeldomRepeats(t *testing.T) {
	const targets = 1 << 16
	r := rand.New(rand.NewPCG(1, 2))
	buf, err := pt.Assemble(nil, "psb\nmode.exec l\nfup 6: 0x1000\npsbend")
	if err != nil {
		t.Fatal(err)
	}
	for range targets {
		buf = append(buf, 0x0d|1<<5, byte(r.Uint32())&^1, 0x10) // TIP, of two bytes
	}
	text := &toggled{testText: *code(nil), forms: [2]string{"\xff", "\xff"}}
	for i := range text.bytes {
		text.bytes[i] = "\xff\xe0"[i&1] // jmp *rax
	}
	text.bytes = append(text.bytes, 0xe0)
	w := NewWalker(text, NewCache(), Config{ISA: x86.Decoder{}, Rules: ptRules, Mode: isa.Mode64})
	ranges := 0
	count := sinkFunc(func(b *Batch) error {
		ranges += len(b.Ranges)
		return nil
	})
	segs, _ := pt.Segments(buf, 0, pt.Config{})
	for _, seg := range segs {
		if err := w.Run(pt.NewDecoder(pt.Config{}, seg), count); err != nil {
			t.Fatal(err)
		}
	}
	// Each phrase would have ten targets. Two trials, and a third that has begun, make 768.
	if made := w.paths.phrases.n; ranges != targets || made == 0 || made > 4*gainTrial {
		t.Errorf("%d ranges of %d, %d phrases", ranges, targets, made)
	}
}

// TestVersionsApart would catch versions of one block that are looked up one behind the other. A
// busy site may have thousands. What is known of each lies at a place of its own.
func TestVersionsApart(t *testing.T) {
	const versions = 1000
	var ps Paths
	var s ReturnStack
	known := new(phrases)
	paths, met, buf := map[uint64]bool{}, map[uint64]bool{}, make([]byte, phraseBytes)
	for i := range uint32(versions) {
		b := &Block{Addr: 0x1000, Number: 1 + i}
		_, h := ps.pathOf(&ask{from: b, key: 1}, &s)
		paths[h%pathTable] = true
		_, h = known.known(b, buf, 0)
		met[h%phraseTable] = true
	}
	// So many at random leave about eight places taken twice.
	if len(paths) < versions*9/10 || len(met) < versions*9/10 {
		t.Errorf("%d versions: %d places of paths, %d of phrases", versions, len(paths), len(met))
	}
}
