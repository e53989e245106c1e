package stm

import (
	"bytes"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/packettext/packettest"
)

// FuzzLexer: whatever the bytes, the lexer ends, its places rise to the end
// without a hole, and encoder and text form give the bytes back. The seeds are
// the lines of testdata/packets/stm.txt with what follows them.
func FuzzLexer(f *testing.F) {
	for _, c := range readCases(f) {
		all := slices.Concat(c.Bytes, c.Rest)
		f.Add(pack(all))
		f.Add(pack(slices.Insert(all, 0, 0)))
	}
	f.Fuzz(func(t *testing.T, buf []byte) {
		if out := reencode(t, buf); !bytes.Equal(out, buf) {
			t.Fatalf("%x comes back as %x", buf, out)
		}
		packettest.Retext(t, buf, NewLexer(buf, 0).All(), func(p *Packet) (off, end int64) { return p.Off, p.End() }, &codec)
		for from := 0; from <= len(buf); from++ {
			at, ok := findAsync(buf, from)
			if want, wantOK := slowSync(unpack(buf), from); ok != wantOK || at != want {
				t.Fatalf("%x: search from half byte %d gives %d, %v, want %d, %v", buf, from, at, ok, want, wantOK)
			}
		}
	})
}

// FuzzDecoder decodes any bytes. It would catch a panic, events without end,
// offsets that fall, and a Decoder whose state survives Reset.
func FuzzDecoder(f *testing.F) {
	for _, text := range []string{
		"async\nversion 3\nm8 1\nd8ts 1 ts 16: 1\nbad f1\nasync\nd4 1",
		"async\nversion 4\nflag.ts ts 16: 5\nc16 0x100\nnull.ts ts 1: 1\nmerr 1\ngerr 1\ntrig 1\nfreq 5",
	} {
		buf, err := Assemble(nil, text)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(buf)
	}
	f.Fuzz(func(t *testing.T, buf []byte) {
		d := NewDecoder(coresight.Config{}, whole(buf))
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
			fresh := decode(t, s)
			packettest.Resets(t, d, s, fresh)
		}
	})
}
