package counts

import "github.com/ptdecode/ptdecode/decoder"

// Place is what an address is called.
type Place struct {
	Sym  string // "": nothing has a name there
	Off  uint64 // from Sym, or in File, bytes
	File string // the module in brackets, or the file; "" if that is not known
}

// Names finds what addresses of a session are called.
type Names struct {
	s    *decoder.Session
	last Place
	at   placeKey
}

// placeKey is an address in time.
type placeKey struct {
	space uint32
	addr  uint64
	time  uint64
}

// NewNames returns names of s.
func NewNames(s *decoder.Session) *Names { return &Names{s: s, at: placeKey{time: ^uint64(0)}} }

// At returns what an address is called at a time, ns.
func (n *Names) At(space uint32, addr, time uint64) Place {
	k := placeKey{space, addr, time}
	if k != n.at {
		n.last, n.at = Place{}, k
		if sym, off, file, ok := n.s.Symbol(space, addr, time); ok {
			n.last = Place{sym, off, file}
		}
	}
	return n.last
}

// Piece is instructions in a row of one function.
type Piece struct {
	Place            // of the first one
	Addr      uint64 // of the first one
	End       uint64 // behind the last one
	First, To int    // instructions of the range, from First up to To
}

// Pieces cuts r where it goes from one function into another.
func (n *Names) Pieces(dst []Piece, r *Range) []Piece {
	a := r.Block.Addr
	from := len(dst)
	p, last := n.At(r.Block.Space, a, r.Seen), n.At(r.Block.Space, r.Last(), r.Seen)
	if p.Sym != "" && last.Sym == p.Sym && last.File == p.File && last.Off-p.Off == r.Last()-a {
		return append(dst, Piece{p, a, r.End(), 0, r.Insns})
	}
	for i, l := range r.Block.Lens[:r.Insns] {
		p := n.At(r.Block.Space, a, r.Seen)
		if k := len(dst) - 1; k >= from && dst[k].Sym == p.Sym && dst[k].File == p.File && (p.Sym == "" || p.Off != 0) {
			dst[k].To, dst[k].End = i+1, a+uint64(l)
		} else {
			dst = append(dst, Piece{p, a, a + uint64(l), i, i + 1})
		}
		a += uint64(l)
	}
	return dst
}
