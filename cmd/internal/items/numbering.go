package items

import "github.com/ptdecode/ptdecode/decoder/calls"

// Numbering numbers the calls of a function that begin at one moment of a stream, from 0: by
// the last call of each.
type Numbering map[Entry]visit

// Entry is a function, as a stream calls it.
type Entry struct {
	Stream int
	Addr   uint64
}

// visit is a call: its moment, and its number.
type visit struct {
	at  uint64
	nth int
}

// Nth numbers the next call.
func (n Numbering) Nth(of Entry, at uint64) int {
	this := visit{at: at}
	if last, ok := n[of]; ok && last.at == at {
		this.nth = last.nth + 1
	}
	n[of] = this
	return this.nth
}

// Tag makes the number of a call that begins its tag.
func (n Numbering) Tag(c *calls.Call) {
	c.Tag = uint64(n.Nth(Entry{c.Stream.Index, c.Addr}, c.Begin.Lo))
}
