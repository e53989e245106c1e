package pt

import (
	"encoding/binary"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// Fill writes the next events to q, every field of them, and returns how many:
// fewer than len(q) only at the segment's end. It gives what as many calls of
// Next would.
func (d *Decoder) Fill(q []event.Event) int {
	n := 0
	for n < len(q) {
		if k := handOut(d, q[n:]); k > 0 {
			n += k
			continue
		}
		if plain(d) {
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

// handOut writes events that wait and are whole to q, and returns how many.
func handOut(d *Decoder, q []event.Event) int {
	if d.head == d.tail || d.comp.open() {
		return 0
	}
	n := copy(q, d.queue[d.head:d.tail])
	if d.head += n; d.head == d.tail {
		d.head, d.tail = 0, 0
	}
	return n
}

// plain reports whether nothing waits, and nothing was stated that belongs to
// what comes next.
func plain(d *Decoder) bool {
	c := &d.comp
	return d.phase == inBody && d.tail == 0 && d.lx.item == 0 && !c.open() && c.abort < 0 && !c.hasMode && !c.hasCR3
}

// burst is quick for as many packets in a row as it knows.
func (d *Decoder) burst(q []event.Event) int {
	buf, base, i := d.lx.buf, d.lx.base, d.lx.pos
	from, n, pad := i, 0, 0 // pad: bytes of padding passed
loop:
	for n < len(q) && len(buf)-i >= 9 {
		b := buf[i]
		e, off := &q[n], base+int64(i)
		if b&1 == 0 {
			if b == 0 {
				at := i
				i = pads(buf, i)
				pad += i - at
				continue
			}
			v, k, last, next, end := gather(buf, i)
			if end == i || d.state == powerOff {
				break
			}
			if i = next; k != 0 {
				d.times.only(e, d.times.gathered(off), off, base+int64(end))
				e.Kind, e.Value, e.N, e.Last = event.Outcomes, v, uint8(k), uint8(last)
				n++
			}
			continue
		}
		size := int(ipSize[b>>5])
		if size < 0 {
			break
		}
		end := off + 1 + int64(size)
		switch b & 0x1f {
		case 0x0d: // TIP
			if size == 0 || d.state == powerOff {
				break loop
			}
			d.times.only(e, d.aim(off), off, end)
			e.Kind = event.Target
		case 0x11: // TIP.PGE
			if size == 0 || d.state == powerOn {
				break loop
			}
			d.times.flush()
			d.times.only(e, d.times.now, off, end)
			e.Kind, d.state = event.Enable, powerOn
		case 0x01: // TIP.PGD
			if d.state == powerOff {
				break loop
			}
			d.times.only(e, d.times.targets(off), off, end)
			e.Kind, d.state = event.Disable, powerOff
			d.times.flush()
		default:
			break loop
		}
		if size != 0 {
			e.IP = d.last.expand(binary.LittleEndian.Uint64(buf[i+1:])&(^uint64(0)>>(64-8*size)), b>>5)
			e.Flags = event.FlagIP
		}
		i += 1 + size
		n++
	}
	d.lx.pos = i
	if i-from != pad {
		d.comp.fresh, d.comp.cause = false, 0
	}
	return n
}
