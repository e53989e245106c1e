package calls

import (
	"fmt"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/calls"
)

// holder finds the functions that hold an address, of the kernel or of the programs that ran.
// The zero value holds none.
type holder struct {
	addr  uint64
	in    map[uint32]bool // address spaces looked at
	found map[place]bool
	name  string // of the first one found; "": none
}

// place is where a function begins.
type place struct {
	sym, file string
	addr      uint64
}

// look looks in the address spaces of b.
func (h *holder) look(s *decoder.Session, b *decoder.Batch) {
	if s.Streams()[b.Stream].Guest != 0 {
		return
	}
	for i := range b.Ranges {
		r := &b.Ranges[i]
		h.lookIn(s, r.Block.Space, b.Stamps[r.Stamp].Time.Likely())
	}
}

// lookIn looks in an address space, at a time, ns.
func (h *holder) lookIn(s *decoder.Session, space uint32, time uint64) {
	if h.in[space] {
		return
	}
	if h.in == nil {
		h.in, h.found = map[uint32]bool{}, map[place]bool{}
	}
	h.in[space] = true
	if sym, off, file, ok := s.Symbol(space, h.addr, time); ok && sym != "" {
		h.found[place{sym, file, h.addr - off}] = true
		if h.name == "" {
			h.name = sym
		}
	}
}

// holds reports whether c is of a function that holds the address, or begins there.
func (h *holder) holds(c *calls.Call) bool {
	return c.Addr == h.addr || c.Stream.Guest == 0 && h.found[place{c.Sym, c.File, c.Addr}]
}

// asked names what was asked for as name: an address, with the function that holds it.
func (h *holder) asked(name string) string {
	if h.name == "" {
		return name
	}
	return fmt.Sprintf("%s, which holds %s,", h.name, name)
}
