package flow

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// Bytewise is a Filler that also gives its bytes, so that a walk can know those again which
// it has followed before. last is what addresses in bytes are compressed against: in Intel
// PT, the last IP.
type Bytewise interface {
	Filler

	// Ahead returns the bytes buf from the next event on, of which the first n may be used.
	// off is where buf begins in the stream, bytes. at bounds when all that the n bytes
	// tell of happened. ok is false where these bytes alone do not say what comes next, or
	// when.
	Ahead() (buf []byte, n int, off int64, at event.Time, last uint64, ok bool)

	// Tell decodes the events of flow in buf, as far as buf alone says what they are, and
	// returns how many. Their offsets count from buf's start; they have no time. Behind
	// event i the next begins at after[i], and lasts[i] takes the place of last. The events
	// depend only on those bits of last that are in mask.
	Tell(q []event.Event, after []int, lasts []uint64, buf []byte, last uint64) (n int, mask uint64)

	// Use passes over the next n bytes: whole events, behind which last is this one.
	Use(n int, last uint64)

	// Some is Fill, but stops early where Ahead would be ok. It gives one event at least;
	// more is false at the segment's end.
	Some(q []event.Event) (n int, more bool)
}

// phrase is a block and the bytes of trace behind it, which were met before, and what
// they led to. That is whole events, and the ranges executed up to the last of them. One look-up
// takes the place of reading the bytes and of following them.
//
// Nothing in it depends on more than its key: the block, the bytes, the part of last that
// they leave open, and the epochs of span. It ends before a return whose call it does
// not know.
type phrase struct {
	// Two cache lines, read each time.
	from   *Block
	key    [phraseBytes / 8]uint64 // bytes
	mask   uint64                  // bits of last that count
	upper  uint64                  // which have this value
	span   event.Span              // the epochs for which all of it is true
	end    *Block                  // executed next; nil if off is set
	last   uint64                  // behind it, if states
	first  *[phraseRanges]Range    // ranges
	n      uint8                   // of first, that are its own
	used   uint8                   // bytes; 0: the phrase leads nowhere
	events uint8
	stamps uint8               // of at: outcomes and targets
	marks  uint8               // of mark: targets that count as stated
	stacks bool                // it calls or returns
	states bool                // an address is stated
	turns  bool                // there are other events in it than targets
	at     [phraseEvents]uint8 // where the events begin, bytes
	mark   [phraseEvents]uint8 // ranges

	// One that is read now and then.
	call  [phraseCalls]*Block
	off   *interlude // how it ends, if tracing goes off and on there
	times uint64     // how often it ran, of what phrases.tally was not told yet
	open  uint8      // of call: calls that it made and did not return from
	pops  uint8      // calls from before it that it returned from
	deep  uint8      // the most calls that were open at once, less those that it returned from
	_     [21]byte   // to a multiple of the line
}

// ranges returns the ranges of p.
func (p *phrase) ranges() []Range { return p.first[:p.n] }

// interlude is a Disable and the Enable that follows it at once, and the block that the
// first ends.
type interlude struct {
	b       *Block
	off, on event.Event // without time; offsets count from the phrase's start
}

const (
	phraseBytes      = 32  // bytes looked at
	phraseLeast      = 16  // bytes that may be used: fewer are not worth a phrase
	phraseEvents     = 12  // events
	phraseRanges     = 192 // ranges
	phraseCalls      = 4   // calls open at its end
	phraseBits       = 14
	phraseMost       = 1<<phraseBits - 1 // phrases kept, of 192 bytes
	phraseTable      = 4 << phraseBits
	phraseRangesMost = 1 << 18 // ranges kept, of 16 bytes

	phraseChunk = 256 // phrases that memory is taken for at once: above 32 KiB it begins with a cache line
)

// phrases is what was met: a table of places in list, by hash. Neither phrases nor ranges
// move when there are more of them.
type phrases struct {
	table [phraseTable]uint32 // index in list, plus 1; 0: none
	list  []*[phraseChunk]phrase
	n     int // phrases in list
	rooms rooms
	tally *Tally // to which phrases owe how often they ran
}

// nth returns phrase i.
func (ps *phrases) nth(i uint32) *phrase { return &ps.list[i/phraseChunk][i%phraseChunk] }

// known returns the phrase at b with the bytes at buf's start, behind last, or nil, and their
// hash.
func (ps *phrases) known(b *Block, buf []byte, last uint64) (p *phrase, h uint64) {
	buf = buf[:phraseBytes:phraseBytes]
	k0, k1 := binary.LittleEndian.Uint64(buf), binary.LittleEndian.Uint64(buf[8:])
	k2, k3 := binary.LittleEndian.Uint64(buf[16:]), binary.LittleEndian.Uint64(buf[24:])
	h = (uint64(b.Number) ^ k0*0x9e3779b97f4a7c15 ^ (k1<<31|k1>>33)*0xff51afd7ed558ccd ^ (k2<<17|k2>>47)*0xa0761d6478bd642f ^ (k3<<47|k3>>17)*0xe7037ed1a0b428db) * 0xc4ceb9fe1a85ec53
	h ^= h >> 32
	for i := h; ; i++ {
		x := ps.table[i%phraseTable]
		if x == 0 {
			return nil, h
		}
		if p = ps.nth(x - 1); p.from == b && p.key == [4]uint64{k0, k1, k2, k3} && last&p.mask == p.upper {
			return p, h
		}
	}
}

// fresh gives room for a phrase with hash h, in place of old if that is not nil. Where none is left, all that were
// met are forgotten.
func (ps *phrases) fresh(h uint64, old *phrase) *phrase {
	if ps.crowded() {
		ps.startOver()
	}
	if old != nil && ps.n > 0 {
		ps.payFor(old)
		return old
	}
	if ps.n == len(ps.list)*phraseChunk {
		ps.list = append(ps.list, (*[phraseChunk]phrase)(written(make([]phrase, phraseChunk))))
	}
	for ps.table[h%phraseTable] != 0 {
		h++
	}
	ps.n++
	ps.table[h%phraseTable] = uint32(ps.n)
	return ps.nth(uint32(ps.n - 1))
}

// crowded reports whether there is no room for another phrase.
func (ps *phrases) crowded() bool {
	return ps.n == phraseMost || ps.rooms.filled(phraseRangesMost)
}

// startOver forgets all that was met, and keeps the memory.
func (ps *phrases) startOver() {
	if y := ps.tally; y != nil {
		ps.pay()
		ps.tally = y
	}
	clear(ps.table[:])
	for _, c := range ps.list {
		*c = [phraseChunk]phrase{}
	}
	ps.rooms.vacate()
	ps.n = 0
}

// phrasesOn goes on over phrases, as far as they are known or can be made known. It does
// what fast does and nothing more: TestPhrases holds it to that.
func (w *Walker) phrasesOn() {
	t, x := &w.t, &w.exec
	if x.events.bytes == nil || t.n != 0 || !x.events.spent(t.q) || !w.plain(t) {
		return
	}
	buf, most, off, at, last, ok := x.events.bytes.Ahead()
	if !ok || most < phraseLeast || at.Lo >= t.loEnd || at.Hi >= t.hiEnd && t.hiEnd != math.MaxUint64 {
		return
	}
	w.countPhrases()
	i, q := 0, t.q
	// From the last phrase on that has other events than targets.
	told := past{off: off, at: at, last: last, known: true, first: q}
	x.out.until(&event.Event{Time: at})
	b := x.code.block(t.space, t.ip, t.mode, t.lo, t.hi)
	for b != nil && b.N > 0 && i+phraseBytes <= len(buf) && most-i >= phraseLeast {
		p := w.phraseAt(b, buf[i:], last)
		if p.used == 0 || i+int(p.used) > most {
			break
		}
		from, waits := off+int64(i), x.out.refer.tally != nil
		if !waits {
			x.out.retell(p, from, at)
		}
		if p.stacks {
			t.stack.reenact(p.ranges(), p.call[:p.open], int(p.pops), int(p.deep))
		}
		if p.turns {
			told.off, told.last, told.turns = from, last, true
		}
		if p.states {
			last = p.last
		}
		i, q = i+int(p.used), q+int(p.events)
		on, confirms := true, false
		if b = p.end; b != nil {
			t.ip = b.Addr
		} else {
			t.q = q - 2
			on, confirms = w.offAndOn(p.off, from, at)
		}
		if waits {
			x.out.refer.mention(&x.out, p, from, at, confirms)
		} else {
			x.out.endPhrase(p, confirms)
		}
		if !on || x.out.wait.err != nil {
			break
		}
		if b == nil || b.Span.From > t.lo || t.hi >= b.Span.Until {
			b = x.code.block(t.space, t.ip, t.mode, t.lo, t.hi)
		}
	}
	if i == 0 {
		x.events.vain++
		return
	}
	told.buf = buf[told.off-off : i]
	w.passPhrases(i, q, last, told)
}

// passPhrases goes on behind n bytes of phrases, at event q, where addresses are relative to last.
func (w *Walker) passPhrases(n, q int, last uint64, told past) {
	t, x := &w.t, &w.exec
	x.events.vain, t.wrote, t.bits, t.q, t.idle = 0, 0, 0, q, 0
	x.events.bytes.Use(n, last)
	x.events.passed(q, told)
	if x.out.refer.n > 0 {
		x.out.refer.leave(w, t, x.events.at(t.q))
	}
}

// countPhrases has w's paths know phrases, and count them where that is asked for.
func (w *Walker) countPhrases() {
	w.phrased = true
	w.paths.countFor(w.exec.out.refer.tally)
}

// phraseAt returns the phrase at b with the bytes at buf's start, behind last.
func (w *Walker) phraseAt(b *Block, buf []byte, last uint64) *phrase {
	p, h := w.paths.phrases.known(b, buf, last)
	if p == nil || p.span.From > w.t.lo || w.t.hi >= p.span.Until {
		return w.newPhrase(p, h, b, buf, last)
	}
	return p
}

// newPhrase makes the phrase at b with the bytes at buf's start, behind last, in place of old if
// that is not nil. Its hash is h.
func (w *Walker) newPhrase(old *phrase, h uint64, b *Block, buf []byte, last uint64) *phrase {
	ps := w.paths.phrases
	if old != nil || ps.crowded() {
		w.exec.out.refer.unfoldAll(&w.exec.out) // what waits may be forgotten
	}
	p := ps.fresh(h, old)
	w.compose(p, b, buf[:phraseBytes], last)
	return p
}

// retell gives the ranges of p, which was sent from offset off of the stream on, at a
// moment.
func (o *writer) retell(p *phrase, off int64, at event.Time) {
	o.space()
	l := len(o.batch.Ranges)
	o.batch.Ranges = append(o.batch.Ranges, p.ranges()...)
	stampLater(o.batch.Ranges[l:], o.stamp)
	ss := o.batch.Stamps
	began := Stamp{Time: at}.since(*o.last()) // what the first event tells of began before it
	if cap(ss)-len(ss) < phraseEvents {
		ss = slices.Grow(ss, phraseEvents)
	}
	o.batch.Stamps = ss[:len(ss)+int(p.stamps)]
	ss = o.batch.Stamps[len(ss):]
	for k, from := range p.at[:len(ss)] {
		ss[k] = Stamp{Off: off + int64(from), Time: at}
	}
	if len(ss) > 0 {
		ss[0].Time = began.Time
	}
	o.stamp += uint32(p.stamps)
	for _, k := range p.mark[:p.marks] {
		o.marks.put(l + int(k))
	}
}

// stampLater adds to the stamps of rs. It takes four at once: phrases have 40 ranges and more.
func stampLater(rs []Range, by uint32) {
	for ; len(rs) >= 4; rs = rs[4:] {
		rs[0].Stamp += by
		rs[1].Stamp += by
		rs[2].Stamp += by
		rs[3].Stamp += by
	}
	for k := range rs {
		rs[k].Stamp += by
	}
}

// offAndOn has tracing go off and on as o says, in a phrase at offset at of the stream. It
// reports whether the phrases go on there, and whether that confirms the flow.
func (w *Walker) offAndOn(o *interlude, at int64, when event.Time) (on, confirms bool) {
	x := &w.exec.out.refer
	o.happens(at, when, &x.turn)
	x.spaces[0] = w.t.space
	w.goesOff(&w.t, o.b, &x.turn[0])
	on, confirms = w.comesOn(&w.t, &x.turn[1])
	x.spaces[1] = w.t.space
	return on, confirms
}
