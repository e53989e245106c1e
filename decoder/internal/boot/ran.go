package boot

import (
	"bytes"
	"errors"
	"slices"
	"sort"
	"sync"

	"github.com/ptdecode/ptdecode/decoder/internal/flow"
)

// ranAs is what a segment comes to with some code (flow.Sink). It is kept by ranges: instructions
// take five times as much, and few of them are looked at.
type ranAs struct {
	d      *doubts
	list   []piece
	n      int                     // instructions
	met    []meet                  // which of them have a byte of a site, in order
	metIn  []int32                 // of each of these: its piece
	notes  []int                   // before which of them something is noted, in order
	bad    bool                    // trace and code contradict each other
	strict bool                    // that ends it
	sites  map[*flow.Block][]*site // by block that was met: see sitesOf
	sparse bool                    // only what lies near sites is wanted
	kept   bool                    // the flow was kept, and comes from there
	gaps   bool                    // something was passed over
	seek   flow.Sought             // blocks with sites
	look   look
	some   []ran // scratch of window
	doubt  marks // scratch of who tells what is in doubt
}

// piece is a range as executed. It is 24 bytes.
type piece struct {
	b   *flow.Block
	off int64 // of the event that it leads to
	at  int32 // instructions before it
	n   uint16
}

// end returns how many instructions there are up to the piece's end.
func (p *piece) end() int { return int(p.at) + int(p.n) }

// same reports whether p and q are the same instructions, before the same event.
func (p *piece) same(q *piece) bool {
	return p.off == q.off && p.n == q.n && (p.b == q.b || p.b.Addr == q.b.Addr && bytes.Equal(p.b.Lens[:p.n], q.b.Lens[:q.n]))
}

// meet is an instruction that has a byte of a site.
type meet struct {
	at int // instructions before it
	*site
}

// ran is an instruction as executed.
type ran struct {
	off  int64 // of the event that it leads to
	ip   uint64
	site *site // of which it has a byte; nil: of none
}

// look is the piece of a ranAs that was looked at last.
type look struct {
	is, from, end int      // its index, and its instructions
	ips           []uint64 // their addresses; none: nobody asked yet
}

// mostBlocks bounds the blocks that a ranAs keeps the sites of.
const mostBlocks = 1 << 15

var (
	errTooMuch = errors.New("boot: too many instructions in a segment")
	errRefuted = errors.New("boot: trace and code contradict each other")
)

// sitesOf returns the site that each instruction of a block has a byte of; nil if none has.
func (k *ranAs) sitesOf(b *flow.Block) []*site {
	if s := k.d.sites; len(s) == 0 || b.End <= s[0].addr || b.Addr > s[len(s)-1].last {
		return nil
	}
	list, ok := k.sites[b]
	if ok {
		return list
	}
	if k.sites == nil {
		k.sites = map[*flow.Block][]*site{}
	}
	if len(k.sites) >= mostBlocks {
		clear(k.sites)
	}
	if d := k.d; d.at(b.Addr, b.End) != nil {
		a := b.Addr
		for _, n := range b.Lens {
			list = append(list, d.at(a, a+uint64(n)))
			a += uint64(n)
		}
	}
	k.sites[b] = list
	return list
}

// Flow takes a batch.
func (k *ranAs) Flow(x *flow.Batch) error {
	if err := k.refuted(x.Notes); err != nil {
		return err
	}
	k.makeRoom(len(x.Ranges))
	notes := x.Notes
	for i := range x.Ranges {
		for ; len(notes) > 0 && notes[0].At <= i; notes = notes[1:] {
			k.notes = append(k.notes, k.n)
		}
		r := &x.Ranges[i]
		k.runs(r.Block, r.N, x.Stamps[r.Stamp].Off)
	}
	if len(notes) > 0 {
		k.notes = append(k.notes, k.n)
	}
	return k.counts(0)
}

// leastPieces is for how many pieces memory is taken at first.
const leastPieces = 1 << 13

// makeRoom takes memory for so many pieces more, and then mostly for as many as there are: what grows by less leaves more behind.
func (k *ranAs) makeRoom(pieces int) {
	if n := len(k.list); cap(k.list)-n < pieces {
		more := make([]piece, n, max(n+pieces, min(max(leastPieces, 2*n), mostPieces)))
		copy(more, k.list)
		k.list = more
	}
}

// runs appends the first n instructions of b, which lead to the event at off.
func (k *ranAs) runs(b *flow.Block, n uint16, off int64) {
	if at := k.sitesOf(b); at != nil {
		k.runsBy(at, n)
	} else if k.far() {
		k.n, k.gaps = k.n+int(n), true
		return
	}
	k.list = append(k.list, piece{b, off, int32(k.n), n})
	k.n += int(n)
}

// runsBy notes which of the next n instructions have a byte of a site.
func (k *ranAs) runsBy(at []*site, n uint16) {
	for i, x := range at[:n] {
		if x != nil {
			k.met, k.metIn = append(k.met, meet{k.n + i, x}), append(k.metIn, int32(len(k.list)))
		}
	}
}

// piece returns which piece instruction i is of.
func (k *ranAs) piece(i int) int {
	if p := &k.look; i >= p.from && i < p.end {
		return p.is
	}
	p := k.look.is + 1
	if p >= len(k.list) || int(k.list[p].at) != i {
		p = sort.Search(len(k.list), func(p int) bool { return k.list[p].end() > i })
	}
	x := &k.list[p]
	k.look = look{p, int(x.at), x.end(), k.look.ips[:0]}
	return p
}

// lies returns the address of instruction i, which is of the piece that was looked at last.
func (k *ranAs) lies(i int) uint64 {
	l := &k.look
	if len(l.ips) == 0 {
		x := &k.list[l.is]
		a := x.b.Addr
		for _, n := range x.b.Lens[:x.n] {
			l.ips = append(l.ips, a)
			a += uint64(n)
		}
	}
	return l.ips[i-l.from]
}

// ranAt returns the address of instruction i, and the event that it leads to.
func (k *ranAs) ranAt(i int) (ip uint64, off int64) {
	p := k.piece(i)
	return k.lies(i), k.list[p].off
}

// metAt returns where instruction n of those that have a byte of a site begins and ends.
func (k *ranAs) metAt(n int) (addr, end uint64) {
	s := k.startOf(n)
	addr = s.b.Addr
	for _, size := range s.b.Lens[:s.at] {
		addr += uint64(size)
	}
	return addr, addr + uint64(s.b.Lens[s.at])
}

// window returns up to most instructions from i on, until it is asked again.
func (k *ranAs) window(i, most int) []ran {
	list := k.some[:0]
	for end := min(k.n, i+most); i < end; {
		x := &k.list[k.piece(i)]
		sites := k.sitesOf(x.b)
		for ; i < min(end, x.end()); i++ {
			y := ran{off: x.off, ip: k.lies(i)}
			if sites != nil {
				y.site = sites[i-int(x.at)]
			}
			list = append(list, y)
		}
	}
	k.some = list
	return list
}

// tellSites tells of the sites that instructions [from, end) have a byte of.
func (k *ranAs) tellSites(from, end int, met func(*site)) {
	i := sort.Search(len(k.met), func(i int) bool { return k.met[i].at >= from })
	for ; i < len(k.met) && k.met[i].at < end; i++ {
		met(k.met[i].site)
	}
}

// noted reports whether something is noted between the first and the last of the instructions [from, end).
func (k *ranAs) noted(from, end int) bool {
	i, _ := slices.BinarySearch(k.notes, from+1)
	return i < len(k.notes) && k.notes[i] < end
}

// empty has k keep no instruction.
func (k *ranAs) empty() {
	k.list, k.met, k.metIn, k.notes, k.n, k.bad = k.list[:0], k.met[:0], k.metIn[:0], k.notes[:0], 0, false
	k.kept, k.gaps = false, false
	k.look = look{is: -1, ips: k.look.ips[:0]}
}

// setAgainst marks which instructions of a are not of b too, in this order and at the same
// events. Where b has more between two that both have, it marks these two. What both come
// to while they are apart is told to met. It returns where they part first.
func (a *ranAs) setAgainst(b *ranAs, to *marks, met func(*site)) (apart int) {
	apart = a.n
	for i, j := a.shared(b, 0, 0); i < a.n; i, j = a.shared(b, i, j) {
		i0, j0 := i, j
		apart = min(apart, i0)
		for ; i < a.n; i++ {
			ip, off := a.ranAt(i)
			at, same := b.find(j, ip, off)
			if j = at; same {
				break
			}
		}
		to.add(i0, i)
		a.tellSites(i0, i, met)
		b.tellSites(j0, j, met)
		if i == i0 { // a has nothing in place of what b has
			to.add(max(0, i-1), i+1)
		}
		if i == a.n {
			b.tellSites(j, b.n, met)
		}
	}
	return apart
}

// shared returns where a and b part, from instructions i and j on.
func (a *ranAs) shared(b *ranAs, i, j int) (x, y int) {
	for i < a.n && j < b.n {
		p, q := a.piece(i), b.piece(j)
		if int(a.list[p].at) == i && int(b.list[q].at) == j {
			from := p
			for p < len(a.list) && q < len(b.list) && a.list[p].same(&b.list[q]) {
				p, q = p+1, q+1
			}
			if p > from {
				i, j = a.list[p-1].end(), b.list[q-1].end()
				continue
			}
		}
		ip, off := a.ranAt(i)
		if other, at := b.ranAt(j); other != ip || at != off {
			break
		}
		i, j = i+1, j+1
	}
	return i, j
}

// find returns the first instruction from j on that leads to the event at off, or to a later one. same is set if
// k has the instruction at ip before that event; then j is that one.
func (k *ranAs) find(j int, ip uint64, off int64) (at int, same bool) {
	for ; j < k.n; j = k.list[k.piece(j)].end() {
		if p := k.piece(j); k.list[p].off >= off {
			break
		}
	}
	for at := j; at < k.n && at-j <= maxAhead; at = k.list[k.look.is].end() {
		x := &k.list[k.piece(at)]
		if x.off != off {
			break
		}
		if ip-x.b.Addr >= x.b.End-x.b.Addr {
			continue
		}
		a := x.b.Addr
		for i := int(x.at); i < x.end() && a <= ip; i++ {
			if a == ip && i >= at && i-j <= maxAhead {
				return i, true
			}
			a += uint64(x.b.Lens[i-int(x.at)])
		}
	}
	return j, false
}

// Lists keeps lists of what segments come to, that may be used again. Many workers use it, for any code.
type Lists struct {
	mu   sync.Mutex
	list []*ranAs
}

// Of lists that nobody uses, so many are kept, with room for so many pieces each at most. That is 6 MiB.
const (
	mostLists  = 8
	mostPieces = 1 << 15
)

// get returns an empty list, of sites of d.
func (l *Lists) get(d *doubts) *ranAs {
	l.mu.Lock()
	x := &ranAs{}
	if n := len(l.list); n > 0 {
		x, l.list = l.list[n-1], l.list[:n-1]
	}
	l.mu.Unlock()
	if x.d != d {
		x.d = d
		clear(x.sites)
		x.seek = flow.Sought{}
	}
	x.sparse, x.seek.Is = false, func(b *flow.Block) bool { return d.at(b.Addr, b.End) != nil }
	x.empty()
	return x
}

// put takes lists back, of which the last is the first to be used again.
func (l *Lists) put(list ...*ranAs) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, x := range list {
		if cap(x.list) <= mostPieces && len(l.list) < mostLists {
			l.list = append(l.list, x)
		}
	}
}
