package bundle

import (
	"cmp"
	"debug/elf"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/files"
	"github.com/ptdecode/ptdecode/decoder/internal/bundle"
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

// debugInfo returns where an ELF file has debug information; nil where it is none.
func debugInfo(r io.ReaderAt) (list []bundle.Span) {
	e, err := elf.NewFile(r)
	if err != nil {
		return nil
	}
	for _, s := range e.Sections {
		if (strings.HasPrefix(s.Name, ".debug_") || strings.HasPrefix(s.Name, ".zdebug_")) && s.Type != elf.SHT_NOBITS {
			list = append(list, bundle.Span{Off: int64(s.Offset), Len: int64(s.FileSize)})
		}
	}
	return list
}

// hasDebug reports whether the file at path has debug information.
func (b *Bundle) hasDebug(path string) bool {
	f, err := files.Tree{FS: b.from.FS}.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return len(debugInfo(f)) > 0
}

// debugPages is the debug information of a file that was read, as pages of it.
type debugPages struct {
	path  string
	pages []int64
}

// boundLines leaves debug information out where all of it has more than most bytes. Files
// with less of it come first.
func (b *Bundle) boundLines(most int64) {
	var list []debugPages
	for _, path := range b.watch.Paths() {
		if d := b.debugOf(path); len(d.pages) > 0 {
			list = append(list, d)
		}
	}
	slices.SortStableFunc(list, func(x, y debugPages) int { return cmp.Compare(len(x.pages), len(y.pages)) })
	left, out, gone := most, 0, int64(0)
	for _, d := range list {
		size := int64(len(d.pages)) * page
		if left -= size; left >= 0 {
			continue
		}
		b.watch.Drop(d.path, d.pages)
		gone += size
		if out++; out == 1 {
			b.Lacks = append(b.Lacks, "source lines of "+d.path)
		}
	}
	if out == 0 {
		return
	}
	last := &b.Lacks[len(b.Lacks)-1]
	if out > 1 {
		*last += fmt.Sprintf(" and %d other files", out-1)
	}
	*last += fmt.Sprintf(", with %d bytes of debug information, over the %d of --debug-info", gone, most)
}

// debugOf returns the debug information of the file at path that was read.
func (b *Bundle) debugOf(path string) debugPages {
	d := debugPages{path: path}
	bulk := b.watch.Bulk(path)
	if len(bulk) == 0 {
		return d
	}
	f, err := files.Tree{FS: b.from.FS}.Open(path)
	if err != nil {
		return d // what was read in its place stays
	}
	defer f.Close()
	sections := debugInfo(f)
	for _, p := range bulk {
		if slices.ContainsFunc(sections, func(s bundle.Span) bool { return p*page >= s.Off && (p+1)*page <= s.Off+s.Len }) {
			d.pages = append(d.pages, p)
		}
	}
	slices.Sort(d.pages)
	return d
}
