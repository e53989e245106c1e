package output

import (
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/rows"
)

// call is a call as rows.Options.Calls gives it.
type call struct {
	row     *rows.Row
	at      uint32 // when and where: an index
	depth   int32
	verdict decoder.Verdict
}

// moment is when something happened on a stream.
type moment struct {
	st   *rows.Stream
	time event.Time
}

// keptCall is what follows the front of the lines of a call.
type keptCall struct {
	row     *rows.Row
	verdict decoder.Verdict
	text    []byte
	indent  int // of text: where blanks for its depth go; -1: nowhere
}

// call writes the line of a call, or has it written.
func (l *listing) call(st *rows.Stream, r *rows.Row, t event.Time, v decoder.Verdict, depth int) error {
	x, at := call{row: r, depth: int32(depth), verdict: v}, moment{st, t}
	if l.render != nil {
		return l.render.call(x, at)
	}
	l.out.buf = l.plain.callLines(l.out.buf, []call{x}, []moment{at})
	return l.out.full()
}

// callLines appends the lines of calls, whose moments are times.
func (p *plainLines) callLines(dst []byte, list []call, times []moment) []byte {
	if p.calls == nil {
		p.calls = make([]keptCall, maxNumber)
	}
	for i := range list {
		c := &list[i]
		if at := &times[c.at]; *at != p.now {
			p.now = *at
			p.begins(&rows.Row{Stream: at.st, Time: at.time, Poke: -1, IP: c.row.IP, Space: c.row.Space})
		}
		k := &p.calls[c.row.Number]
		if k.row != c.row || k.verdict != c.verdict {
			if !p.keepCall(k, c) {
				k.row = nil
			}
		}
		if p.front != nil {
			dst = append(dst, p.text...)
		}
		if k.indent < 0 {
			dst = append(dst, k.text...)
			continue
		}
		dst = append(append(append(dst, k.text[:k.indent]...), indent(int(c.depth))...), k.text[k.indent:]...)
	}
	return dst
}

// maxNumber is the bound of rows.Row.Number.
const maxNumber = 1 << 15

// keepCall makes the line of c without its front: ok if it is the same whenever that is called.
func (p *plainLines) keepCall(k *keptCall, c *call) (ok bool) {
	r := *c.row
	r.Stream, r.Time, r.Verdict = p.now.st, p.now.time, c.verdict
	front := 0
	if p.front != nil {
		front = len(p.text)
	}
	k.row, k.verdict, k.indent = c.row, c.verdict, -1
	k.text = append(k.text[:0], p.full.row(nil, &r)[front:]...)
	r.Depth = 1
	deeper := p.full.row(nil, &r)[front:]
	if len(deeper) > len(k.text) {
		for k.indent = 0; k.indent < len(k.text) && k.text[k.indent] == deeper[k.indent]; k.indent++ {
		}
	}
	return p.lasts(&r)
}
