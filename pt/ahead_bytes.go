package pt

import (
	"bytes"
	"math"
	"math/bits"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// A walk that has followed the same bytes before need not decode them again. It asks here
// for the bytes ahead (Ahead), says which of them it knew (Use), and decodes bytes that it
// meets for the first time on their own (Tell). The Decoder satisfies flow.Bytewise by it.

// teller has what needs no state of a Decoder: what bytes say by themselves.
type teller struct{}

const (
	mtcByte   = 0x59 // the first byte of an MTC
	mtcWithin = 8192 // bytes that are searched for one
)

// few is how many events Some takes in one go where more could be known again.
const few = 4

// Ahead returns the bytes buf from the next event on. The first n of them are the segment's
// own and lie before the next timing packet. off is where buf begins in the stream, bytes,
// and at bounds when all that the n bytes tell of happened. last is the IP that addresses in
// them are compressed against. ok is false where these bytes alone do not say what comes
// next and when, as inside of a compound event.
func (d *Decoder) Ahead() (buf []byte, n int, off int64, at event.Time, last uint64, ok bool) {
	if !repeats(d) {
		return nil, 0, 0, event.Time{}, 0, false
	}
	i := d.lx.pos
	off = d.lx.base + int64(i)
	m := &d.times
	if m.ahead.off < off+1 {
		m.ahead.search(off + 1)
	}
	at = event.Time{Lo: m.now, Hi: m.ahead.hi}
	if at.Lo > at.Hi {
		at.Lo, at.Hi = at.Hi, at.Lo
	}
	n = int(min(int64(len(d.lx.buf)-i), m.ahead.off-off))
	if m.clk.num != 0 && m.ahead.off == math.MaxInt64 {
		n = beforeMTC(d.lx.buf[i : i+n])
	}
	return d.seg.Buf[i:], n, off, at, uint64(d.last), true
}

// beforeMTC returns how many of the first bytes of buf lie before the next MTC: where nothing looks
// for times, few of them are worth a phrase all the same. A byte of a payload may pass for an MTC.
func beforeMTC(buf []byte) int {
	buf = buf[:min(len(buf), mtcWithin)]
	if n := bytes.IndexByte(buf, mtcByte); n >= 0 {
		return n
	}
	return len(buf)
}

// repeats reports whether the bytes ahead are of flow, and nothing that was read before
// says more of them than the last IP does.
func repeats(d *Decoder) bool {
	m := &d.times
	if d.state != powerOn || m.flow != m.now || m.tip != m.now || m.tipNow != m.now || !plain(d) || d.lx.pos >= len(d.lx.buf) {
		return false
	}
	b := d.lx.buf[d.lx.pos]
	return b&1 == 0 && b != 0x02 || b&0x1f == 0x0d || b&0x1f == 0x01
}

// Use passes over the next n bytes, which must be whole events of those that Ahead returned.
// last is the IP that addresses behind them are compressed against.
func (d *Decoder) Use(n int, last uint64) {
	if n > 0 {
		d.lx.pos += n
		d.last = lastIP(last)
		d.times.stated = false
		d.comp.fresh, d.comp.cause = false, 0
	}
}

// Some is Fill, but it stops early where Ahead would return true. It writes at least one
// event, and returns how many. more is false at the segment's end, where it may write none.
func (d *Decoder) Some(q []event.Event) (n int, more bool) {
	if d.phase == atStart {
		begin(d)
		if d.state == powerOff && pads(d.lx.buf, d.lx.pos) == len(d.lx.buf) { // nothing else is there
			d.lx.pos, d.phase = len(d.lx.buf), atRest
			d.finish()
		}
	}
	for n < len(q) {
		if k := handOut(d, q[n:]); k > 0 {
			n += k
			continue
		}
		if n > 0 && repeats(d) {
			return n, true
		}
		if plain(d) {
			if k := d.burst(q[n:min(n+few, len(q))]); k > 0 {
				n += k
				continue
			}
		}
		if !d.Next(&q[n]) {
			return n, false
		}
		n++
	}
	return n, true
}

// Tell decodes the events of flow (outcomes, targets, and where tracing goes off and on) in
// buf into q, and returns how many there are. Tracing is on at buf's start, and last is the
// IP that addresses are compressed against. It stops where what follows buf could change an
// event. The events have no Time, and their offsets count from buf's start. Behind event i
// the next one begins at after[i], and addresses are compressed against lasts[i]. mask has
// the bits of last that the events depend on.
func (teller) Tell(q []event.Event, after []int, lasts []uint64, buf []byte, last uint64) (n int, mask uint64) {
	i, on, told := 0, true, false
	l := lastIP(last)
	for n < len(q) {
		for i < len(buf) && buf[i] == 0 {
			i++
		}
		if i == len(buf) {
			break
		}
		e := &q[n]
		*e = event.Event{Off: int64(i)}
		b := buf[i]
		if b&1 == 0 {
			var k int
			if i, k = shortOutcomes(e, buf, i); k == 0 || !on {
				break
			}
			after[n], lasts[n] = i, uint64(l)
			n++
			continue
		}
		form := b >> 5
		size := int(ipSize[form])
		if size < 0 || i+1+size > len(buf) {
			break
		}
		switch b & 0x1f {
		case 0x0d:
			e.Kind = event.Target
		case 0x11:
			e.Kind = event.Enable
		case 0x01:
			e.Kind = event.Disable
		}
		if e.Kind == event.KindNone || on != (e.Kind != event.Enable) || size == 0 && e.Kind != event.Disable {
			break
		}
		on = e.Kind != event.Disable
		if size != 0 {
			v, _ := load(buf, i+1, size)
			if !told {
				mask, told = ipKeep[form], true
			}
			e.IP, e.Flags = l.expand(v, form), event.FlagIP
		}
		i += 1 + size
		e.End = int64(i)
		after[n], lasts[n] = i, uint64(l)
		n++
	}
	return n, mask
}

// shortOutcomes makes e the outcomes of the short TNTs at buf[i:], as gather does, and
// returns where the next event begins, and how many they are. Where buf does not say that,
// they are 0.
func shortOutcomes(e *event.Event, buf []byte, i int) (next, n int) {
	for i < len(buf) {
		b := buf[i]
		switch {
		case b == 0:
			i++
			continue
		case b&1 == 0 && b != 0x02:
			k := bits.Len8(b) - 2
			if n+k <= 64 {
				e.Value |= uint64(b>>1&^(1<<k)) << (64 - n - k)
				n, i = n+k, i+1
				e.Last, e.End = uint8(k), int64(i)
				continue
			}
		case b == 0x02 && (i+1 == len(buf) || buf[i+1] == longTNT):
			return i, 0
		}
		e.Kind, e.N = event.Outcomes, uint8(n)
		return i, n
	}
	return i, 0
}
