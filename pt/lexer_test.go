package pt

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/packettext"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// Catches a bit that the lexer drops or the encoder misplaces, in streams as
// processors make them. Catches a lexer that leaves them: they have no bad packet
// but where a recording is cut.
func TestRecordingsComeBack(t *testing.T) {
	for _, file := range recordedTraces(t) {
		t.Run(strings.ReplaceAll(file[len(testsize.Recordings(t))+1:], "/", "-"), func(t *testing.T) {
			buf, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			packets.ComesBack(t, 0, buf)
			for p := range NewLexer(buf, 0).All() {
				if p.Kind == Bad && p.End() != int64(len(buf)) {
					t.Errorf("%s+0x%x: %v", file, p.Off, p)
				}
			}
		})
	}
}

// Catches a search that misses a PSB at either end, returns one cut short, or
// takes the end of a payload for the start of a PSB. Catches one that its stride makes
// miss a PSB, or take what is none.
func TestFindSync(t *testing.T) {
	packets.FindSync(t, map[string]int{
		"\x19\x00\x00\x00\x00\x00\x02\x82" + psb + "\x02\x23": 8, // a payload ends alike
		"\x19\x00\x00\x00\x02\x82\x02\x82" + psb + "\x02\x23": 8, // twice
		"\x59\x82" + psb: 2, // half a pair before
		psb + "\x02\x23": 0,
	})
}

// Catches a lexer that stops at bad bytes, resumes elsewhere than at the next
// PSB, or leaves a block open across them.
func TestBadReachesNextSync(t *testing.T) {
	buf := []byte("\x02\x63\x00" + "\x04ABCDEFGH" + "\x05" + strings.Repeat("\x00", 300) + psb + "\x04")
	var kinds []Kind
	var size int64
	for p := range NewLexer(buf, 0).All() {
		kinds = append(kinds, p.Kind)
		if p.Kind == Bad {
			size = p.Size()
		}
	}
	want := []Kind{BBP, BIP, Bad, PSB, TNTShort}
	if len(kinds) != len(want) {
		t.Fatalf("kinds %v, want %v", kinds, want)
	}
	for i := range want {
		if kinds[i] != want[i] {
			t.Fatalf("kinds %v, want %v", kinds, want)
		}
	}
	if size != 301 {
		t.Errorf("bad packet of %d bytes, want 301", size)
	}
}

// Catches a block that the wrong kinds close or leave open: BIP's bytes are a
// short TNT outside.
func TestBlockContext(t *testing.T) {
	keep := map[Kind]bool{PAD: true, TSC: true, TMA: true, MTC: true, CYC: true, CBR: true, FUP: true,
		MNT: true, EXSTOP: true, PWRE: true, PWRX: true, BIP: true, BBP: true}
	seen := map[Kind]bool{}
	for _, c := range packets.Cases(t) {
		kind := Kind(c.Kind)
		if kind == Bad || kind == BIP {
			continue
		}
		seen[kind] = true
		bbp := []byte("\x02\x63\x80")
		if kind == TNTShort && c.Bytes[0]&7 == 4 {
			continue // is an item there
		}
		buf := append(append(bbp, c.Bytes...), 0x0c, 1, 2, 3, 4, 5, 6, 7, 8)
		var kinds []Kind
		for p := range NewLexer(buf, 0).All() {
			kinds = append(kinds, p.Kind)
		}
		if len(kinds) < 3 {
			t.Fatalf("%s: kinds %v", c.Text, kinds)
		}
		if open := kinds[2] == BIP; open != keep[kind] {
			t.Errorf("%s: block left open: %v, want %v", c.Text, open, keep[kind])
		}
	}
	if len(seen) != int(NumKinds)-2 {
		t.Errorf("%d kinds tried, want %d", len(seen), NumKinds-2)
	}
}

// Catches a lexer that reads beyond a cut, loses the cut bytes, or says something
// else of them. It takes every packet of the cases, cut at every length, and whole
// at the very end of the bytes, where the table is not used.
func TestCutShort(t *testing.T) {
	for _, c := range packets.Cases(t) {
		kind := Kind(c.Kind)
		if kind == Bad || kind == PAD {
			continue
		}
		head := []byte{}
		if kind == BIP {
			head = []byte("\x02\x63\x80")
			if len(c.Bytes) == 9 {
				head[2] = 0
			}
		}
		for n := 1; n <= len(c.Bytes); n++ {
			buf := append(bytes.Clone(head), c.Bytes[:n]...)
			l := NewLexer(buf[:len(buf):len(buf)], 0)
			var p Packet
			for l.Next(&p) && p.Off < int64(len(head)) {
			}
			switch {
			case n == len(c.Bytes):
				if p.Kind != kind || p.Size() != int64(n) {
					t.Errorf("%s at the end: %v", c.Text, p)
				}
			case p.Kind != Bad || p.Arg != packettext.BadCut || p.Size() != int64(n):
				t.Errorf("%s, %d of %d bytes: %v (reason %d)", c.Text, n, len(c.Bytes), p, p.Arg)
			case int(p.N) <= n || int(p.N) > len(c.Bytes):
				t.Errorf("%s, %d of %d bytes: needs %d", c.Text, n, len(c.Bytes), p.N)
			}
		}
	}
}

// Catches a SeekTo that leaves the bytes or keeps a block open, and an All that
// does not stop.
func TestSeekTo(t *testing.T) {
	buf := []byte("\x02\x63\x00\x04ABCDEFGH")
	l := NewLexer(buf, 100)
	for p := range l.All() {
		if p.Kind == BIP || p.Off != 100 {
			t.Errorf("after break: %v at %d", p, p.Off)
		}
		break
	}
	if l.Off() != 103 {
		t.Errorf("Off() = %d, want 103", l.Off())
	}
	l.SeekTo(103)
	var p Packet
	if l.Next(&p); p.Kind != TNTShort {
		t.Errorf("after SeekTo: %v, want a TNT, since no block is open", p)
	}
	for _, c := range []struct{ to, want int64 }{{0, 100}, {112, 112}, {1 << 40, 112}} {
		if l.SeekTo(c.to); l.Off() != c.want {
			t.Errorf("SeekTo(%d): Off() = %d, want %d", c.to, l.Off(), c.want)
		}
	}
}

// Catches allocation on the hot path.
func TestNextAllocatesNothing(t *testing.T) {
	buf, err := Assemble(nil, "psb\ntsc 0x1234\nmode.exec l\ntip 3: 0x1234\ntnt tnt\npad 5\ncyc 77\nbad 05\n")
	if err != nil {
		t.Fatal(err)
	}
	var l Lexer
	if n := testing.AllocsPerRun(100, func() {
		var p Packet
		for l.Reset(buf, 0); l.Next(&p); {
		}
	}); n != 0 {
		t.Errorf("%v allocations a run, want 0", n)
	}
}
