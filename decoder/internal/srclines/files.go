package srclines

import (
	"bytes"
	"encoding/binary"
	"errors"
	"path"
	"strings"
)

// What an entry of a directory or file says of it (DWARF 5, section 6.2.4.1, "Standard
// Content Descriptions").
const (
	contentPath      = 1 // DW_LNCT_path
	contentDirectory = 2 // DW_LNCT_directory_index
)

// How that is written (DWARF 5, section 7.5.6, "Form Encodings").
const (
	formData2    = 0x05
	formData4    = 0x06
	formData8    = 0x07
	formString   = 0x08
	formBlock    = 0x09
	formData1    = 0x0b
	formStrp     = 0x0e
	formUdata    = 0x0f
	formStrx     = 0x1a
	formStrpSup  = 0x1d
	formData16   = 0x1e
	formLineStrp = 0x1f
	formStrx1    = 0x25
	formStrx2    = 0x26
	formStrx3    = 0x27
	formStrx4    = 0x28
)

// maxName bounds the name of a directory or a file, bytes: PATH_MAX of Linux. maxNames bounds those of a table:
// many entries may have the same one, so that a small file would take much memory.
const (
	maxName  = 4096
	maxNames = 32 << 20
)

// errHeader says that the header of a line table holds less than it promises, or something
// that is not known.
var errHeader = errors.New("broken header of a line table")

// named is a directory or a file of a header: its name, and which directory that is in.
type named struct {
	name string
	dir  uint64
}

// header reads the header of a line table.
type header struct {
	b     []byte // what is not read yet
	order binary.ByteOrder
	wide  bool // offsets have 8 bytes
	str   []byte
	line  []byte // .debug_line_str
}

// fileNames returns the names of the files of the line table at off of a unit that was
// compiled in dir. They are absolute as far as the unit tells. It returns nil for DWARF 2 to
// 4, where package dwarf joins them itself.
func (l *Lines) fileNames(off int64, dir string) ([]string, error) {
	if off < 0 || off >= int64(len(l.line)) {
		return nil, errHeader
	}
	h := header{b: l.line[off:], order: l.order, str: l.str, line: l.lineStr}
	size := h.uint(4)
	if size == 0xffffffff {
		h.wide = true
		size = h.uint(8)
	}
	if size > uint64(len(h.b)) {
		return nil, errHeader
	}
	h.b = h.b[:size]
	if h.uint(2) != 5 {
		return nil, nil
	}
	h.skip(2) // sizes of an address and of a segment selector
	h.uint(h.word())
	h.skip(5) // minimum_instruction_length to line_range
	h.skip(max(h.uint(1), 1) - 1)
	dirs := h.entries()
	files := h.entries()
	if h.b == nil {
		return nil, errHeader
	}
	names := joined(dirs, files, dir)
	if names == nil {
		return nil, errHeader
	}
	return names, nil
}

// joined returns the whole names of files. dir is the directory of the compilation as the
// unit has it; directory 0 is the same one, by the line table. It returns nil if they take more than maxNames.
func joined(dirs, files []named, dir string) []string {
	base := dir
	if len(dirs) > 0 && dirs[0].name != "" {
		if base = dirs[0].name; !absolute(base) && absolute(dir) {
			base = join(dir, base)
		}
	}
	names, size := make([]string, len(files)), 0
	for i, f := range files {
		in := base
		if f.dir > 0 && f.dir < uint64(len(dirs)) {
			in = join(base, dirs[f.dir].name)
		}
		names[i] = join(in, f.name)
		if size += len(names[i]); size > maxNames {
			return nil
		}
	}
	return names
}

// entries reads how entries are written, and those.
func (h *header) entries() []named {
	type part struct{ content, form uint64 }
	parts := make([]part, h.uint(1))
	for i := range parts {
		parts[i] = part{h.leb(), h.leb()}
	}
	n := h.leb()
	if n > uint64(len(h.b)) || n > 0 && len(parts) == 0 {
		h.b = nil // each takes a byte at least
		return nil
	}
	list, size := make([]named, 0, n), 0
	for range n {
		var x named
		for _, p := range parts {
			s, v := h.value(p.form)
			switch p.content {
			case contentPath:
				x.name = s
			case contentDirectory:
				x.dir = v
			}
		}
		if size += len(x.name); h.b == nil || len(x.name) > maxName || size > maxNames {
			h.b = nil
			return nil
		}
		list = append(list, x)
	}
	return list
}

// value reads a string or a number. A string that lies in another file is "".
func (h *header) value(form uint64) (s string, v uint64) {
	switch form {
	case formString:
		end := bytes.IndexByte(h.b, 0)
		if end < 0 {
			h.b = nil
			return "", 0
		}
		s = string(h.b[:end])
		h.skip(uint64(end) + 1)
	case formStrp:
		s = textAt(h.str, h.uint(h.word()))
	case formLineStrp:
		s = textAt(h.line, h.uint(h.word()))
	case formStrpSup:
		h.skip(h.word())
	case formData1, formStrx1:
		v = h.uint(1)
	case formData2, formStrx2:
		v = h.uint(2)
	case formStrx3:
		h.skip(3)
	case formData4, formStrx4:
		v = h.uint(4)
	case formData8:
		v = h.uint(8)
	case formData16:
		h.skip(16)
	case formUdata, formStrx:
		v = h.leb()
	case formBlock:
		h.skip(h.leb())
	default:
		h.b = nil
	}
	return s, v
}

// textAt returns the string at off of a section of strings.
func textAt(section []byte, off uint64) string {
	if off >= uint64(len(section)) {
		return ""
	}
	s, _, _ := bytes.Cut(section[off:], []byte{0})
	return string(s)
}

// word returns how many bytes an offset has.
func (h *header) word() uint64 {
	if h.wide {
		return 8
	}
	return 4
}

// skip leaves n bytes out. Where fewer are left h.b is nil from then on.
func (h *header) skip(n uint64) {
	if n > uint64(len(h.b)) {
		h.b = nil
		return
	}
	h.b = h.b[n:]
}

// uint reads a number of 1, 2, 4 or 8 bytes.
func (h *header) uint(n uint64) (v uint64) {
	b := h.b
	if h.skip(n); h.b == nil {
		return 0
	}
	switch n {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(h.order.Uint16(b))
	case 4:
		return uint64(h.order.Uint32(b))
	}
	return h.order.Uint64(b)
}

// leb reads a number in LEB128.
func (h *header) leb() uint64 {
	v, n := binary.Uvarint(h.b)
	if n <= 0 {
		h.b = nil
		return 0
	}
	h.skip(uint64(n))
	return v
}

// absolute reports whether a name begins at a root, be it of Windows: a program may come
// from there.
func absolute(name string) bool {
	return strings.HasPrefix(name, "/") || windows(name)
}

// windows reports whether a name begins at a root of Windows.
func windows(name string) bool {
	return strings.HasPrefix(name, `\`) || len(name) > 2 && name[1] == ':' && (name[2] == '\\' || name[2] == '/')
}

// join joins a name to the directory that it is relative to. It cleans names of Unix, as
// package dwarf does.
func join(dir, name string) string {
	switch {
	case name == "", windows(name):
		return name
	case absolute(name):
		return path.Clean(name)
	case !windows(dir):
		return path.Join(dir, name)
	case strings.Contains(dir, `\`):
		return strings.TrimRight(dir, `\/`) + `\` + name
	}
	return strings.TrimRight(dir, "/") + "/" + name
}
