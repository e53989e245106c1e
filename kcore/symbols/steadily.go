package symbols

import (
	"slices"
	"sort"
	"sync"
)

// known is the symbols that Steadily gave.
type known struct {
	sync.RWMutex
	from []uint64 // where they begin, in order
	list []steady
}

// steady is a symbol that names each of its addresses at any time.
type steady struct {
	*Symbol
	index int
}

// Steadily returns the symbol that Lookup gives of addr at any time, and of all of that symbol's addresses; nil where there is
// none such. It is the index-th that was asked for, from 0. The next look-up in it takes little. Steadily may be called by many
// goroutines.
func (s *Table) Steadily(addr uint64) (y *Symbol, index int) {
	k := &s.known
	k.RLock()
	is := k.of(addr)
	k.RUnlock()
	if is.Symbol != nil {
		return is.Symbol, is.index
	}
	if s.watch != nil {
		s.watch(addr)
	}
	b, ok := s.at(addr)
	if !ok || addr-b.addr >= b.length {
		return nil, 0
	}
	end := b.addr + b.length
	if i := sort.Search(len(s.ksyms), func(i int) bool { return s.ksyms[i].Addr >= end }); i > 0 && s.reach[i-1] >= b.addr {
		return nil, 0
	}
	k.Lock()
	defer k.Unlock()
	if is = k.of(addr); is.Symbol == nil {
		found := s.symbol(&b)
		is = steady{&found, len(k.list)}
		i, _ := slices.BinarySearch(k.from, b.addr)
		k.from, k.list = slices.Insert(k.from, i, b.addr), slices.Insert(k.list, i, is)
	}
	return is.Symbol, is.index
}

// of returns the symbol of k that holds addr, if there is one.
func (k *known) of(addr uint64) (is steady) {
	i, found := slices.BinarySearch(k.from, addr)
	if !found {
		i--
	}
	if i < 0 || addr-k.from[i] >= k.list[i].Len {
		return is
	}
	return k.list[i]
}
