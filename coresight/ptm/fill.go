package ptm

import (
	"encoding/binary"
	"math/bits"

	"github.com/ptdecode/ptdecode/coresight/internal/v3"
	"github.com/ptdecode/ptdecode/coresight/internal/wire"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// Fill writes the next events to q, every field of them, and returns how many:
// fewer than len(q) only at the segment's end. It gives what as many calls of
// Next would.
func (d *Decoder) Fill(q []event.Event) int { return wire.Fill(q, d.fastEvents, d.Next) }

// plain reports whether nothing waits, and the bytes of atoms and branches say all of them.
func (d *Decoder) plain() bool {
	return d.flow.Empty() && d.phase == inBody && d.flow.Synced && !d.flow.Late() && !d.lx.form.CycleAccurate && d.flow.Set <= v3.Thumb
}

// fastEvents reads Atom and plain Branch packets, the most of any stream, as long as
// there is room in q for what one of them makes.
func (d *Decoder) fastEvents(q []event.Event) int {
	if !d.plain() {
		return 0
	}
	const most = 2 // events that a packet makes
	buf, base, i := d.lx.Buf, d.lx.Base, d.lx.Pos
	end := int(min(d.seg.End-base, int64(len(buf)))) - 7
	if i >= end || len(q) < most {
		return 0
	}
	var t event.Time // none of the packets is a timestamp
	n := 0
	for i < end && n <= len(q)-most {
		b := buf[i]
		if b&1 == 0 {
			a := &single[b]
			if a.Kind == Bad || d.flow.N+a.N > 64 {
				break
			}
			if d.flow.N == 0 {
				d.flow.Off = base + int64(i)
			}
			d.flow.Bits |= a.Value << (64 - a.N) >> d.flow.N
			d.flow.N += a.N
			i++
			d.flow.End = base + int64(i)
			continue
		}
		head := binary.LittleEndian.Uint64(buf[i : i+8 : i+8])
		size := bits.TrailingZeros64(^head&0x80808080|1<<39)>>3 + 1
		if size > 4 || size > 1 && head>>(8*size-2)&1 != 0 || d.flow.N == 64 {
			break // all address bytes, an exception, or no room
		}
		if n == 0 {
			t = d.flow.When(base + int64(i))
		}
		off, stop := base+int64(i), base+int64(i+size)
		if d.flow.N == 0 {
			d.flow.Off = off
		}
		q[n] = event.Event{Kind: event.Outcomes, N: d.flow.N + 1, Value: d.flow.Bits | 1<<(63-d.flow.N), Off: d.flow.Off, End: stop, Time: t}
		d.flow.Bits, d.flow.N = 0, 0
		a, used := d.flow.Set.Bits(wire.Squeeze(head&wire.AddressBits&(1<<(8*size)-1)), uint8(size), true)
		mask := uint64(1)<<used - 1
		d.flow.Addr = d.flow.Addr&^mask | a&mask
		q[n+1] = event.Event{
			Kind: event.Target, Flags: event.FlagIP | event.FlagMode, Mode: uint8(d.flow.Set.Mode()),
			IP: d.flow.Addr, Off: off, End: stop, Time: t,
		}
		n += most
		i += size
	}
	d.lx.Pos = i
	return n
}
