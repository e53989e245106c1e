package items

import "github.com/ptdecode/ptdecode/decoder/calls"

// Numbering numbers the calls of a function that begin at one moment of a stream, from 0: by
// the last call of each.
type Numbering map[Entry]Visit

// Entry is a function, as a stream calls it.
type Entry struct {
	Stream int
	Addr   uint64
}

// Nth numbers the next call.
func (n Numbering) Nth(of Entry, at uint64) int {
	this := Visit{At: at}
	if last, ok := n[of]; ok && last.At == at {
		this.Nth = last.Nth + 1
	}
	n[of] = this
	return this.Nth
}

// Tag makes the number of a call that begins its tag.
func (n Numbering) Tag(c *calls.Call) {
	c.Tag = uint64(n.Nth(Entry{c.Stream.Index, c.Addr}, c.Begin.Lo))
}
