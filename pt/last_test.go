package pt

import (
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// TestLastPacket would catch outcomes of which it is not said, or said wrong, how many
// the last packet holds. Several packets make one event.
func TestLastPacket(t *testing.T) {
	short := Packet{Kind: TNTShort, N: 5, Value: 0b10110}
	long := Packet{Kind: TNTLong, N: 9, Value: 0b101100111}
	for _, c := range []struct {
		packets []Packet
		n, last uint8
	}{
		{[]Packet{short}, 5, 5},
		{[]Packet{short, {Kind: PAD}, {Kind: TNTShort, N: 2, Value: 1}}, 7, 2},
		{[]Packet{short, long}, 14, 9},
		{[]Packet{long, short}, 14, 5},
	} {
		buf := []byte(psb)
		buf = append(buf, 0x99, 0x01)
		buf = Packet{Kind: FUP, Arg: 6, Value: 0x1000}.Append(buf)
		buf = Packet{Kind: PSBEND}.Append(buf)
		for _, p := range c.packets {
			buf = p.Append(buf)
		}
		for _, pad := range []int{0, 16} { // near the end packets are read another way
			d := NewDecoder(Config{}, event.Segment{Buf: append(buf[:len(buf):len(buf)], make([]byte, pad)...), End: int64(len(buf) + pad)})
			var all [8]event.Event
			found := false
			for _, e := range all[:d.Fill(all[:])] {
				if e.Kind == event.Outcomes {
					found = true
					if e.N != c.n || e.Last != c.last {
						t.Errorf("%v: %d outcomes, %d in the last packet, want %d and %d", c.packets, e.N, e.Last, c.n, c.last)
					}
				}
			}
			if !found {
				t.Errorf("%v: no outcomes", c.packets)
			}
		}
	}
}

// TestBrokenEnd would catch the end of a segment that does not say that the sync point there is broken. It would also
// catch one that says it where it is only cut short, or where the stream ends.
func TestBrokenEnd(t *testing.T) {
	sync := append([]byte(psb), 0x99, 0x01)
	for _, c := range []struct {
		what   string
		behind []byte // a second PSB
		kind   event.Kind
		flags  event.Flags
	}{
		{"a packet that has no place there", Packet{Kind: TIP, Arg: 6, Value: 0x1000}.Append(nil), event.End, event.FlagNoPacket},
		{"bytes that are no packet", []byte{0x02, 0xff}, event.End, event.FlagNoPacket},
		{"a packet that is none for its end", append([]byte{0x99}, psb...), event.End, event.FlagNoPacket},
		{"another sync point", Packet{Kind: PSBEND}.Append([]byte(psb)), event.End, event.FlagNoPacket},
		{"cut short", nil, event.End, 0},
		{"cut short within a packet", []byte{0x99}, event.End, 0},
		{"whole", Packet{Kind: PSBEND}.Append(nil), event.Sync, event.FlagRestated},
	} {
		buf := Packet{Kind: PSBEND}.Append(append([]byte(nil), sync...))
		buf = append(append(buf, sync...), c.behind...)
		segs, _ := Segments(buf, 0, Config{})
		d := NewDecoder(Config{}, segs[0])
		var e, last event.Event
		for d.Next(&e) {
			if e.Kind == event.End || e.Kind == event.Sync {
				last = e
			}
		}
		if flags := last.Flags & (event.FlagNoPacket | event.FlagRestated); last.Kind != c.kind || flags != c.flags {
			t.Errorf("%s: %v, flags %x, want %v, %x", c.what, last.Kind, flags, c.kind, c.flags)
		}
		d.Reset(segs[len(segs)-1])
		for d.Next(&e) {
		}
		if e.Kind != event.End || e.Flags != 0 {
			t.Errorf("%s: the stream's end: %v, flags %x", c.what, e.Kind, e.Flags)
		}
	}
}
