package ptm

import (
	"encoding/binary"
	"math/bits"

	"github.com/ptdecode/ptdecode/coresight/internal/wire"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// Fill writes the next events to q, every field of them, and returns how many:
// fewer than len(q) only at the segment's end. It gives what as many calls of
// Next would.
func (d *Decoder) Fill(q []event.Event) int {
	n := 0
	for n < len(q) {
		if d.head == d.tail && d.phase == inBody && d.synced && !d.isLate && !d.lx.form.CycleAccurate && d.set <= setThumb {
			if n += d.burst(q[n:]); n == len(q) {
				break
			}
		}
		if !d.Next(&q[n]) {
			break
		}
		n++
	}
	return n
}

// burst reads Atom and plain Branch packets, the most of any stream, as long as
// there is room in q for what one of them makes.
func (d *Decoder) burst(q []event.Event) int {
	const most = 2 // events that a packet makes
	buf, base, i := d.lx.buf, d.lx.base, d.lx.pos
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
			if a.Kind == Bad || d.n+a.N > 64 {
				break
			}
			if d.n == 0 {
				d.off = base + int64(i)
			}
			d.bits |= a.Value << (64 - a.N) >> d.n
			d.n += a.N
			i++
			d.end = base + int64(i)
			continue
		}
		head := binary.LittleEndian.Uint64(buf[i : i+8 : i+8])
		size := bits.TrailingZeros64(^head&0x80808080|1<<39)>>3 + 1
		if size > 4 || size > 1 && head>>(8*size-2)&1 != 0 || d.n == 64 {
			break // all address bytes, an exception, or no room
		}
		if n == 0 {
			t = d.when(base + int64(i))
		}
		off, stop := base+int64(i), base+int64(i+size)
		if d.n == 0 {
			d.off = off
		}
		q[n] = event.Event{Kind: event.Outcomes, N: d.n + 1, Value: d.bits | 1<<(63-d.n), Off: d.off, End: stop, Time: t}
		d.bits, d.n = 0, 0
		a, used := d.set.bits(wire.Squeeze(head&wire.AddressBits&(1<<(8*size)-1)), uint8(size))
		mask := uint64(1)<<used - 1
		d.addr = d.addr&^mask | a&mask
		q[n+1] = event.Event{
			Kind: event.Target, Flags: event.FlagIP | event.FlagMode, Mode: uint8(d.set.mode()),
			IP: d.addr, Off: off, End: stop, Time: t,
		}
		n += most
		i += size
	}
	d.lx.pos = i
	return n
}
