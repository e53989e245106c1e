package bundle

import (
	"cmp"
	"debug/elf"
	"fmt"
	"slices"
	"strings"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/bundle"
	"github.com/ptdecode/ptdecode/decoder/internal/plural"
)

// Source lines come from the debug information of files in which something ran. Of such
// files it is there as a whole, as the table of lines of one unit points anywhere in it.

// defaultDebugInfo is Options.DebugInfo if nothing is said, bytes.
const defaultDebugInfo = 256 << 20

// mostDebug returns how much debug information goes in, bytes.
func (o *Options) mostDebug() int64 {
	if o.Anonymise {
		return -1
	}
	return cmp.Or(o.DebugInfo, defaultDebugInfo)
}

// maxFunction is how much of one function is read, bytes.
const maxFunction = 1 << 20

// functionAt is where a function begins.
type functionAt struct {
	space uint32
	addr  uint64
}

// function reads all code of the function that b belongs to: who says what of a function
// was not executed needs that, too.
func (v *visitor) function(b *decoder.Block, time uint64) {
	sym, off, file, _ := v.s.Symbol(b.Space, b.Addr, time)
	begin := functionAt{b.Space, b.Addr - off}
	if sym == "" || off > maxFunction || v.functions[begin] {
		return
	}
	if len(v.functions) >= maxFunctions {
		clear(v.functions)
	}
	v.functions[begin] = true
	var code [64]byte // less than a page, and not read to compare it
	for a := begin.addr; a-begin.addr < maxFunction; a += uint64(len(code)) {
		s, o, f, _ := v.s.Symbol(b.Space, a, time)
		if s != sym || f != file || a-o != begin.addr {
			return
		}
		if b.Space == 0 {
			v.pages[a&^(page-1)] = true
		}
		for _, at := range []event.Epoch{0, b.Span.From} {
			v.s.Code(code[:], b.Space, a, at)
		}
	}
}

// debugInfo returns where an ELF file has debug information, sorted and apart; nil where
// it is none. Of a node, its source tells: the bundle may lack the headers.
func debugInfo(n *bundle.Node) (list []bundle.Span) {
	if n.Dir || n.Fault != "" || n.Source() == nil {
		return nil
	}
	e, err := elf.NewFile(n.Source())
	if err != nil {
		return nil
	}
	for _, s := range e.Sections {
		if !strings.HasPrefix(s.Name, ".debug_") && !strings.HasPrefix(s.Name, ".zdebug_") || s.Type == elf.SHT_NOBITS {
			continue
		}
		if s.Offset < uint64(n.Size) {
			list = append(list, bundle.Span{Off: int64(s.Offset), Len: int64(min(s.FileSize, uint64(n.Size)-s.Offset))})
		}
	}
	slices.SortFunc(list, func(a, b bundle.Span) int { return cmp.Compare(a.Off, b.Off) })
	apart := list[:0]
	for _, s := range list {
		if k := len(apart) - 1; k >= 0 && s.Off <= apart[k].Off+apart[k].Len {
			apart[k].Len = max(apart[k].Len, s.Off+s.Len-apart[k].Off)
		} else {
			apart = append(apart, s)
		}
	}
	return apart
}

// debugPart is the debug information of a file, and how much of it was read.
type debugPart struct {
	node  *bundle.Node
	parts []bundle.Span
	size  int64 // bytes
}

// boundLines leaves debug information out where all of it has more bytes than o allows.
// Files with less of it come first.
func (b *Bundle) boundLines(nodes []*bundle.Node, o *Options) {
	var list []debugPart
	for _, n := range nodes {
		if parts := debugInfo(n); len(parts) > 0 {
			list = append(list, debugPart{n, parts, n.HeldIn(parts)})
		}
	}
	slices.SortStableFunc(list, func(x, y debugPart) int { return cmp.Compare(x.size, y.size) })
	most := o.mostDebug()
	left := most
	var out []debugPart
	gone := int64(0)
	for _, d := range list {
		if left -= d.size; left < 0 || most <= 0 {
			d.node.Blank(d.parts)
			out, gone = append(out, d), gone+d.size
		}
	}
	switch {
	case len(out) == 0:
	case o.Anonymise:
		b.Lacks = append(b.Lacks, "source lines: debug information has paths, and --anonymise leaves it out")
	case most <= 0:
		b.Lacks = append(b.Lacks, "source lines: --debug-info 0 leaves debug information out")
	default:
		what := "source lines of " + out[0].node.Path
		if len(out) > 1 {
			what += " and " + plural.Count(len(out)-1, "other file")
		}
		b.Lacks = append(b.Lacks, what+fmt.Sprintf(", with %d bytes of debug information, over the %d of --debug-info", gone, most))
	}
}
