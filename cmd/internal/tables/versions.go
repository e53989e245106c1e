package tables

import (
	"encoding/hex"
	"maps"
	"slices"

	"github.com/ptdecode/ptdecode/decoder"
)

// version is code at a changed place, from the change that made it to the one that ends it.
type version struct {
	addr         uint64
	symbol       string
	bytes        []byte
	since, until uint64 // ns; 0: it was there before; nothing ended it
	poke, next   int    // -1: the same
}

// versions are the versions of changed code: held are those that nothing ended yet.
type versions struct {
	at   map[uint64]*version // by the address of each byte
	tell func(*version)
}

// follow takes the next change. What it touches ends, and its new bytes are a version.
func (v *versions) follow(p *decoder.PokeInfo) {
	first := true
	for i := range uint64(max(len(p.Old), len(p.New))) {
		x := v.at[p.Addr+i]
		if x == nil {
			continue
		}
		first = false
		x.until, x.next = p.Time, p.Index
		v.tell(x)
		for k := range x.bytes {
			delete(v.at, x.addr+uint64(k))
		}
	}
	if first && len(p.Old) > 0 {
		v.tell(&version{p.Addr, p.Symbol, p.Old, 0, p.Time, -1, p.Index})
	}
	x := &version{p.Addr, p.Symbol, p.New, p.Time, 0, p.Index, -1}
	for i := range p.New {
		v.at[p.Addr+uint64(i)] = x
	}
}

// ends tells of the versions that nothing ended, by address.
func (v *versions) ends() {
	for _, a := range slices.Sorted(maps.Keys(v.at)) {
		if x := v.at[a]; x.addr == a {
			v.tell(x)
		}
	}
}

// version writes a version.
func (k *Sink) version(x *version) {
	k.row = k.row[:0]
	k.addAddress(x.addr)
	k.addText(x.symbol)
	k.addText(hex.EncodeToString(x.bytes))
	k.addAddress(x.since)
	k.addAddress(x.until)
	k.addNumber(int64(x.poke))
	k.addNumber(int64(x.next))
	_ = k.put(tableVersions)
}
