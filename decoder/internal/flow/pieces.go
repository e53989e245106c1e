package flow

import "sync"

// Pieces keeps parts of blocks, some of which are of a kind. Many workers use it.
type Pieces struct {
	mu   sync.Mutex
	kept map[piecesKey][]Piece
}

type piecesKey struct {
	b  *Block
	is uint64 // which of its first instructions are of the kind, below a bit that marks their number
}

// Piece is instructions of a block that are all of the kind, or none.
type Piece struct {
	*Block
	Is bool
}

// Of returns the parts of r, of which is says what is of the kind.
func (p *Pieces) Of(r *Range, is []bool) []Piece {
	if len(is) > 63 {
		return piecesOf(r.Block, is)
	}
	k := piecesKey{r.Block, 1}
	for _, x := range is {
		if k.is <<= 1; x {
			k.is |= 1
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	list, ok := p.kept[k]
	if !ok {
		list = piecesOf(r.Block, is)
		if p.kept == nil {
			p.kept = map[piecesKey][]Piece{}
		}
		p.kept[k] = list
	}
	return list
}

// piecesOf cuts the first instructions of b where is changes.
func piecesOf(b *Block, is []bool) (list []Piece) {
	from := 0
	for i := range is {
		if i > 0 && is[i] != is[i-1] {
			list = append(list, Piece{b.Part(from, i-from), is[i-1]})
			from = i
		}
	}
	return append(list, Piece{b.Part(from, len(is)-from), is[from]})
}
