package flow

import (
	mathbits "math/bits"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// ask is what a path is known by.
type ask struct {
	from *Block // or another version that leads as it does
	key  uint64 // the outcomes, the newest in bit 0; from bit 48 on, how many they are; wantsTarget
	to   uint64 // the target, if there is one
	back uint64 // the newest return address; 0: none that is sure
}

// wantsTarget says that a target is part of the key.
const wantsTarget = 1 << 63

// asked returns how many outcomes there are.
func (k *ask) asked() uint8 { return uint8(k.key>>pathBits) & 0x7f }

// path is what a block and the outcomes behind it have led to before: the
// blocks executed and where the flow stands then. One look-up takes the place
// of as many loads and guesses as it has blocks.
//
// A path takes at most pathBits outcomes of one event, and, where they are all
// that is in hand, the target that follows. Compressed returns may lead out of calls
// before it, to addresses that it is known by, too. Nothing in it depends on more: it
// ends before a return whose address is not sure.
type path struct {
	ask
	end    *Block // executed next
	first  *[phraseRanges]Range
	span   event.Span // the epochs for which all of it is true
	number uint32     // of what it leads through (Walked); 0: it has none yet.
	room   uint8      // of first, that are its own
	n      uint8      // ranges; 0: the path leads nowhere
	pre    uint8      // ranges before the one that spends the first outcome
	post   uint8      // ranges up to the one that spends the last outcome before the target
	used   uint8      // outcomes spent
	final  bool       // the target is used
	// The last block counts as one whose target the trace states (Block.targetStated).
	counts bool
	backs  uint8 // compressed returns from calls before it
	pops   uint8 // returns from calls before it
	deep   uint8 // the most calls that were open at once, less those that it returned from
	open   uint8 // calls that it made and did not return from
	call   [pathCalls]*Block
	under  [pathBacks - 1]uint64 // where those below back lead that it returned to
}

const (
	pathBits   = 48 // outcomes; at most 48: see ask
	pathRanges = 96 // ranges; at most phraseRanges
	pathCalls  = 4  // calls open at its end
	pathBacks  = 4  // compressed returns from calls before it

	// pathAfter is how many look-ups are missed before there are paths: short
	// walks do without.
	pathAfter = 1 << 10

	pathRangesMost = 3 << 17 // ranges kept, of 16 bytes
	pathMost       = 1 << 14 // paths kept, of 128 bytes
	pathTable      = 4 * pathMost
	pathSeen       = 1 << 14
	pathChunk      = 256
)

// Paths keeps what a worker's walkers found to be walked often. It is used by one goroutine.
type Paths struct {
	cache *Cache             // that all blocks are of
	table *[pathTable]uint16 // index in list, plus 1; 0: none
	seen  *[pathSeen]uint32  // the hash of what was last missed there
	list  []*[pathChunk]path
	n     int // paths in list
	rooms rooms

	misses  int
	phrases *phrases

	flows comparing // where the worker's walkers compare flows
}

// nthPath returns path i.
func (ps *Paths) nthPath(i int) *path { return &ps.list[i/pathChunk][i%pathChunk] }

// pathOf returns the path that is asked for, with the return addresses of s, or nil, and the
// hash of what was asked.
func (ps *Paths) pathOf(is *ask, s *ReturnStack) (p *path, h uint64) {
	// By where the block is and leads: versions that do the same share a path.
	h = is.from.Addr ^ mathbits.RotateLeft64(is.from.Target*0x9e6c63d0876a9a47, 41) ^ mathbits.RotateLeft64(is.key*0x9e3779b97f4a7c15, 32) ^ mathbits.RotateLeft64(is.to*0xff51afd7ed558ccd, 17) ^ is.back*0xa0761d6478bd642f
	h *= 0xc4ceb9fe1a85ec53
	h ^= h >> 32
	if ps.table == nil {
		ps.table = (*[pathTable]uint16)(written(make([]uint16, pathTable)))
		ps.seen = (*[pathSeen]uint32)(written(make([]uint32, pathSeen)))
	}
	for i := h; ; i++ {
		x := ps.table[i%pathTable]
		if x == 0 {
			return nil, h
		}
		p = ps.nthPath(int(x) - 1)
		if p.key == is.key && p.to == is.to && p.back == is.back && (p.from == is.from || p.from.Addr == is.from.Addr && is.from.leadsAs(p.from)) && s.leadsTo(p) {
			return p, h
		}
	}
}

// admit gives room for a path with hash h, if it was missed before. Where none is left, all
// that were known are forgotten.
func (ps *Paths) admit(h uint64) *path {
	if i := h >> 40 % pathSeen; ps.seen[i] != uint32(h) {
		ps.seen[i] = uint32(h)
		return nil
	}
	if ps.n == pathMost || ps.rooms.filled(pathRangesMost) {
		ps.forgetAll()
	}
	if ps.n == len(ps.list)*pathChunk {
		ps.list = append(ps.list, (*[pathChunk]path)(written(make([]path, pathChunk))))
	}
	for ps.table[h%pathTable] != 0 {
		h++
	}
	ps.n++
	ps.table[h%pathTable] = uint16(ps.n)
	p := ps.nthPath(ps.n - 1)
	p.first, p.room = nil, 0
	return p
}

// forgetAll forgets all paths, and keeps the memory.
func (ps *Paths) forgetAll() {
	if ps.table != nil {
		clear(ps.table[:])
	}
	ps.n = 0
	ps.rooms.vacate()
}

// startAnew has ps know nothing of any code, and keeps the memory.
func (ps *Paths) startAnew() {
	if ps.forgetAll(); ps.phrases != nil {
		ps.phrases.startOver()
	}
}

// uses has ps keep what was met in blocks of c alone.
func (ps *Paths) uses(c *Cache) {
	if ps.cache == c {
		return
	}
	ps.startAnew()
	ps.cache = c
}

// stampAll gives all of rs the stamp s: four by four, which takes half of the time.
func stampAll(rs []Range, s uint32) {
	for ; len(rs) >= 4; rs = rs[4:] {
		q := rs[:4:4]
		q[0].Stamp, q[1].Stamp, q[2].Stamp, q[3].Stamp = s, s, s, s
	}
	for i := range rs {
		rs[i].Stamp = s
	}
}
