package itm

import (
	"bytes"
	"testing"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/packettext/packettest"
)

// FuzzLexer: whatever the bytes, the lexer ends, its offsets rise to the end
// without a hole, and encoder and text form give the bytes back. The seeds are
// the lines of testdata/packets/itm.txt with what follows them.
func FuzzLexer(f *testing.F) {
	for _, c := range readCases(f) {
		f.Add(append(bytes.Clone(c.Bytes), c.Rest...))
	}
	f.Fuzz(func(t *testing.T, buf []byte) {
		if out := reencode(t, buf); !bytes.Equal(out, buf) {
			t.Fatalf("%x comes back as %x", buf, out)
		}
		packettest.Retext(t, buf, NewLexer(buf, 0).All(), func(p *Packet) (off, end int64) { return p.Off, p.End() }, &codec)
	})
}

// FuzzDecoder decodes any bytes. It would catch a panic, events without end,
// offsets that fall, and a Decoder whose state survives Reset.
func FuzzDecoder(f *testing.F) {
	for _, text := range []string{
		"sync\nswit 1 4 2\next 1 0\nswit 1 1 1\nlts2 1\nlts1 500 delayed\noverflow\ndwt 2 4 5",
		"sync\ngts1 5 length 4\ngts2 5\ngts1 0x3ffffff clkch wrap\ngts2 1\nbad 80\nsync\ngts1 1",
	} {
		buf, err := Assemble(nil, text)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(buf, uint32(0))
		f.Add(buf, uint32(0x310))
	}
	f.Fuzz(func(t *testing.T, buf []byte, tcr uint32) {
		c := coresight.Config{Protocol: coresight.ITM, ITM: coresight.ITMRegisters{TCR: tcr}}
		d := NewDecoder(c, whole(buf))
		var e event.Event
		for range 2 { // the first time from any state
			for d.Next(&e) {
			}
		}
		segs, first := Segments(buf, 0)
		if len(segs) == 0 && first != len(buf) {
			t.Fatalf("no segment, but %d of %d bytes before the first", first, len(buf))
		}
		for _, s := range append(segs, whole(buf)) {
			fresh := decode(t, c, s)
			packettest.Resets(t, d, s, fresh)
		}
	})
}
