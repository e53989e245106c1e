package report

// crossed holds what streams executed of pokes: Sightings of each side that was. There may be hundreds of thousands of
// pokes, and most streams execute neither side of most of them. So a poke that none executed takes 4 bytes.
type crossed struct {
	streams int
	first   []uint32      // by poke: one more than the index in numbers of its first; 0: no stream executed it
	numbers []uint32      // by poke, stream and side: one more than the number of its Sightings; 0: none
	pages   [][]Sightings // by number, full but for the last: what is in them does not move
}

// side is a side of a poke.
type side int

const (
	sideOld side = iota
	sideTraps
	sideNew
	numSides
)

// sightingsPerPage is how many Sightings a page has: 64 KiB.
const sightingsPerPage = 1 << 10

// of returns the Sightings of a side of a poke by a stream.
func (x *crossed) of(stream, poke int, of side) *Sightings {
	if n := poke + 1 - len(x.first); n > 0 {
		x.first = append(x.first, make([]uint32, n)...)
	}
	if x.first[poke] == 0 {
		x.first[poke] = uint32(len(x.numbers)) + 1
		x.numbers = append(x.numbers, make([]uint32, x.streams*int(numSides))...)
	}
	n := &x.numbers[int(x.first[poke])-1+stream*int(numSides)+int(of)]
	if *n == 0 {
		last := len(x.pages) - 1
		if last < 0 || len(x.pages[last]) == sightingsPerPage {
			x.pages = append(x.pages, make([]Sightings, 0, sightingsPerPage))
			last++
		}
		x.pages[last] = append(x.pages[last], Sightings{})
		*n = uint32(last*sightingsPerPage + len(x.pages[last]))
	}
	return x.sightings(*n)
}

// sightings returns those with a number, counted from 1.
func (x *crossed) sightings(n uint32) *Sightings {
	return &x.pages[(n-1)/sightingsPerPage][(n-1)%sightingsPerPage]
}

// crossing returns what a stream executed of a poke; ok is false if that is nothing.
func (x *crossed) crossing(stream, poke int) (k Crossing, ok bool) {
	if poke >= len(x.first) || x.first[poke] == 0 {
		return k, false
	}
	k.Stream = stream
	at := int(x.first[poke]) - 1 + stream*int(numSides)
	for i, to := range [...]*Sightings{sideOld: &k.Old, sideTraps: &k.Traps, sideNew: &k.New} {
		if n := x.numbers[at+i]; n > 0 {
			*to, ok = *x.sightings(n), true
		}
	}
	return k, ok
}
