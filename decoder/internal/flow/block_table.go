package flow

// blockTable finds the versions of blocks by where they lie. It is open to all places that a
// hash may fall on: a map takes three times the memory, and more again while it grows.
type blockTable struct {
	slots []*Block // roots of versions; a power of two; nil: nothing
	used  int      // slots that are not nil
}

// takenAway stands where a root was taken out: what lies behind is still found.
var takenAway = &Block{}

// is reports whether b lies at k. No mode is that of takenAway.
func (b *Block) is(k key) bool {
	return b.Addr == k.addr && b.Space == k.space && b.Mode == k.mode && b != takenAway
}

// slot returns where k is, or where it may be put. There is an empty slot.
func (t *blockTable) slot(k key) **Block {
	mask := uint64(len(t.slots) - 1)
	for i := k.hash() >> 40; ; i++ { // the six highest bits say which table
		if p := &t.slots[i&mask]; *p == nil || (*p).is(k) {
			return p
		}
	}
}

// root returns the root of the versions at k, or nil.
func (t *blockTable) root(k key) *Block {
	if len(t.slots) == 0 {
		return nil
	}
	return *t.slot(k)
}

// setRoot has root be that of the versions at k.
func (t *blockTable) setRoot(k key, root *Block) {
	if t.used >= len(t.slots)/4*3 {
		t.widen()
	}
	p := t.slot(k)
	if *p == nil {
		t.used++
	}
	*p = root
}

// dropRoot takes the versions at k out, if they are there.
func (t *blockTable) dropRoot(k key) {
	if t.root(k) != nil {
		*t.slot(k) = takenAway
	}
}

// widen makes room for more, also where something was taken out.
func (t *blockTable) widen() {
	live, size := 0, len(t.slots)
	t.eachRoot(func(*Block) { live++ })
	if live >= size/2 {
		size *= 2
	}
	old := *t
	t.slots = written(make([]*Block, max(8, size)))
	t.used = live
	old.eachRoot(func(b *Block) { *t.slot(b.key()) = b })
}

// eachRoot gives all roots.
func (t *blockTable) eachRoot(to func(*Block)) {
	for _, b := range t.slots {
		if b != nil && b != takenAway {
			to(b)
		}
	}
}

// key returns where b lies.
func (b *Block) key() key { return key{b.Addr, b.Space, b.Mode} }
