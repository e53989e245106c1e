package flow

import "github.com/ptdecode/ptdecode/decoder/event"

// Step is a block as executed, and what came directly behind it.
type Step struct {
	Block *Block
	Next  uint64 // address of what was executed next; 0: nothing, or something lies between
	N     uint16 // instructions of Block that retired
	Sure  bool   // it was not Ambiguous
}

// Tally is a Sink that counts steps. A Walker that gives its flow to a Tally itself need not
// unfold phrases for it: see referred. It is used by one goroutine.
type Tally struct {
	table  []counted // by hash; of a power of two
	n      int       // of table, in use
	open   Step      // whose Next comes with the next range, where N is not 0
	stream int       // of open
	owing  []*phrases
}

// counted is a step and how often it was taken. N is 0 where there is none.
type counted struct {
	Step
	times uint64
}

// count counts s so many times more.
func (y *Tally) count(s Step, times uint64) {
	if c := y.place(&s); c.N != 0 {
		c.times += times
		return
	}
	if 2*y.n >= len(y.table) {
		old := y.table
		y.table, y.n = make([]counted, max(1<<10, 4*len(old))), 0
		for i := range old {
			if c := &old[i]; c.N != 0 {
				*y.place(&c.Step) = *c
				y.n++
			}
		}
	}
	*y.place(&s) = counted{s, times}
	y.n++
}

// none is what place returns where there is no table.
var none counted

// place returns where s is counted, or what is to count it: its N is 0.
func (y *Tally) place(s *Step) *counted {
	if len(y.table) == 0 {
		return &none
	}
	for h := s.mix(); ; h++ {
		if c := &y.table[h&uint64(len(y.table)-1)]; c.N == 0 || c.Step == *s {
			return c
		}
	}
}

// mix is where in a table s is looked for first.
func (s *Step) mix() uint64 {
	return (s.Block.Addr*0x9e3779b97f4a7c15 ^ s.Next) * 0xc4ceb9fe1a85ec53 >> 20
}

// close counts the step that is open, behind which next was executed.
func (y *Tally) close(next uint64) {
	if y.open.N != 0 {
		y.open.Next = next
		y.count(y.open, 1)
		y.open.N = 0
	}
}

// Flow counts the steps of b. The last of them stays open.
func (y *Tally) Flow(b *Batch) error {
	if b.Stream != y.stream {
		y.close(0)
		y.stream = b.Stream
	}
	notes, rs := b.Notes, b.Ranges
	for i := 0; i < len(rs); {
		for ; len(notes) > 0 && notes[0].At <= i; notes = notes[1:] {
			y.note(&notes[0])
		}
		end := len(rs) // of those between which nothing lies
		if len(notes) > 0 {
			end = min(end, notes[0].At)
		}
		y.close(rs[i].Block.Addr)
		y.inRow(rs[i:end])
		r := &rs[end-1]
		y.open = Step{Block: r.Block, N: r.N, Sure: r.Verdict != Ambiguous}
		i = end
	}
	for i := range notes {
		y.note(&notes[i])
	}
	return nil
}

// inRow counts the steps between rs, all but the last.
func (y *Tally) inRow(rs []Range) {
	mask := uint64(len(y.table) - 1)
	for i := range len(rs) - 1 {
		r := &rs[i]
		s := Step{Block: r.Block, Next: rs[i+1].Block.Addr, N: r.N, Sure: r.Verdict != Ambiguous}
		if h := s.mix() & mask; h < uint64(len(y.table)) { // most are found where they are looked for first
			if c := &y.table[h]; c.Block == s.Block && c.Next == s.Next && c.N == s.N && c.Sure == s.Sure {
				c.times++
				continue
			}
		}
		y.count(s, 1)
		mask = uint64(len(y.table) - 1)
	}
}

// note ends the step that is open if n lies between it and the next.
func (y *Tally) note(n *Note) {
	switch n.Kind {
	case noteCounted:
		y.close(n.IP)
	case NoteGap, NoteTrap, NoteTrackOff, NoteTrackOn:
		y.close(0)
	case NoteEvent:
		if n.Event.Kind == event.Async || n.Event.Kind == event.AsyncDisable {
			y.close(0)
		}
	}
}

// Each calls f for every step and how often it was taken. What walkers count from here on
// counts anew.
func (y *Tally) Each(f func(Step, uint64)) {
	y.close(0)
	for _, ps := range y.owing {
		ps.pay()
	}
	clear(y.owing)
	y.owing = y.owing[:0]
	for i := range y.table {
		if c := &y.table[i]; c.N != 0 {
			f(c.Step, c.times)
		}
	}
	y.table, y.n = nil, 0
}

// countFor has the phrases of ps count for y from now on, if it is not nil.
func (paths *Paths) countFor(y *Tally) {
	if paths.phrases == nil {
		paths.phrases = new(phrases)
		written(paths.phrases.table[:])
	}
	if ps := paths.phrases; y != nil && ps.tally != y {
		ps.pay()
		ps.tally = y
		y.owing = append(y.owing, ps)
	}
}

// pay counts the steps of all phrases that were counted as a whole.
func (ps *phrases) pay() {
	if ps.tally == nil {
		return
	}
	for i := range ps.n {
		ps.payFor(ps.nth(uint32(i)))
	}
	ps.tally = nil
}

// payFor counts the steps of p as often as p was counted.
func (ps *phrases) payFor(p *phrase) {
	if p.times == 0 {
		return
	}
	rs := p.ranges()
	for k, r := range rs {
		s := Step{Block: r.Block, N: r.N, Sure: true}
		switch {
		case k+1 < len(rs):
			s.Next = rs[k+1].Block.Addr
		case p.off != nil:
			s.Next = p.off.b.Addr
		default:
			s.Next = p.end.Addr
		}
		ps.tally.count(s, p.times)
	}
	if p.off != nil {
		ps.tally.count(Step{Block: p.off.b, N: p.off.b.N, Sure: true}, p.times)
	}
	p.times = 0
}
