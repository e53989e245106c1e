package etmv4

import (
	"encoding/binary"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// plain reports whether atoms and addresses are events at once: nothing waits,
// nothing is speculated, and the flow is known.
func (d *Decoder) plain() bool {
	return d.spec.max == 0 && d.out.on && d.out.known && d.sync == synced && d.out.head == len(d.out.queue) && d.phase == inBody &&
		d.waits.kind == elNone && !d.out.restate && d.spec.empty()
}

// atomBits is the atoms of the packets from c0 to ff, the oldest in bit 63, and
// how many.
var atomBits = atomTable()

type atomBit struct{ bits, n uint64 }

func atomTable() (t [64]atomBit) {
	for i := range t {
		_, n, v := atoms(uint8(0xc0 + i))
		t[i] = atomBit{uint64(v) << (64 - n), uint64(n)}
	}
	return t
}

// firstAtom is the lowest header of an atom packet.
const firstAtom = 0xc0

// fastEvents takes atoms, and addresses with atoms behind them, as many as fit q, and
// returns how many events there are. Where anything waits there is none.
func (d *Decoder) fastEvents(q []event.Event) int {
	if !d.plain() {
		return 0
	}
	buf, base, i := d.lx.Buf, d.lx.Base, d.lx.Pos
	n := 0
	for n < len(q) && i < len(buf) {
		start := i
		b := buf[i]
		if b >= firstAtom {
			var v, k uint64
			for i < len(buf) && buf[i] >= firstAtom {
				a := &atomBits[buf[i]&0x3f]
				if k+a.n > 64 {
					break
				}
				v |= a.bits >> k
				k += a.n
				i++
			}
			e := &q[n]
			*e = event.Event{}
			e.Kind, e.N, e.Value = event.Outcomes, uint8(k), v
			e.Off, e.End, e.Time = base+int64(start), base+int64(i), d.now
			n++
			continue
		}
		a, size := d.fastAddress(buf[i:], b)
		if size == 0 {
			break
		}
		d.hist.remember(a)
		i += size
		e := &q[n]
		*e = event.Event{}
		e.Kind, e.Flags, e.IP, e.Mode = event.Target, event.FlagIP|event.FlagMode, a.ip, uint8(d.out.mode(a.is))
		e.Off, e.End, e.Time = base+int64(start), base+int64(i), d.now
		n++
	}
	d.lx.Pos = i
	return n
}

// fastAddress returns the address of the packet at the front of buf, whose first
// byte is b, and its length in bytes. That is 0 where it is no address, or what
// follows it is no atom.
func (d *Decoder) fastAddress(buf []byte, b uint8) (a address, size int) {
	if len(buf) < 10 {
		return a, 0
	}
	switch b {
	case 0x90, 0x91, 0x92:
		a, size = d.hist[b&3], 1
	case 0x95, 0x96:
		is := b - 0x95
		raw, n := shortBytes(buf[1:])
		a, size = d.hist.complete(short(raw)<<(2-is), 8*n+1-is, is), 1+int(n)
	case 0x9a, 0x9b:
		is := b - 0x9a
		v, _ := long(uint64(binary.LittleEndian.Uint32(buf[1:])), is)
		a, size = d.hist.complete(v, 32, is), 5
	case 0x9d, 0x9e:
		is := b - 0x9d
		v, _ := long(binary.LittleEndian.Uint64(buf[1:]), is)
		a, size = address{v, is}, 9
	default:
		return a, 0
	}
	if buf[size] < firstAtom {
		return a, 0
	}
	return a, size
}
