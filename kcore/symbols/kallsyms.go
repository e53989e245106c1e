package symbols

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ptdecode/ptdecode/decoder/badfile"
	"github.com/ptdecode/ptdecode/decoder/files"
)

// ErrRestricted is in the chain of the error for symbols whose addresses the
// kernel did not show.
var ErrRestricted = errors.New("the kernel hid them (kernel.kptr_restrict): record as root, or with sysctl kernel.kptr_restrict=0")

// Kallsyms is a copy of /proc/kallsyms, in the file's order. A line of the file
// costs its own bytes and 16 more. It does not change once read.
type Kallsyms struct {
	text string // the file
	syms []ksym

	few   atomic.Int32 // names that were looked for without named
	once  sync.Once
	named map[string]int32 // the kernel's own symbols by name; the first of a name
	asked asked
	watch func(addr uint64) // nil: nobody asks
}

// ksym is one line of /proc/kallsyms. What stands in the line is read there.
type ksym struct {
	addr   uint64
	name   uint32 // offset of the name in the file, bytes; the type stands two before it
	length uint16 // of the name, bytes
	number bool   // it names a number and no address
}

// Entry is one line of /proc/kallsyms.
type Entry struct {
	Addr   uint64
	Type   byte // as nm(1): t, T, w, W: code; a, A: absolute; else data
	Name   string
	Module string // "" for the kernel itself
}

// Code reports whether the symbol's type is that of code.
func (y *Entry) Code() bool {
	switch y.Type {
	case 't', 'T', 'w', 'W', 'i':
		return true
	}
	return false
}

// Len returns the number of lines; a nil k has none.
func (k *Kallsyms) Len() int {
	if k == nil {
		return 0
	}
	return len(k.syms)
}

// Entry returns line i, from 0, of those that are not empty.
func (k *Kallsyms) Entry(i int) Entry {
	y := &k.syms[i]
	return Entry{Addr: y.addr, Type: k.text[y.name-2], Name: k.name(i), Module: k.module(i)}
}

// name returns the name in line i.
func (k *Kallsyms) name(i int) string {
	y := &k.syms[i]
	return k.text[y.name : y.name+uint32(y.length)]
}

// module returns the module's name in line i, "" for the kernel itself.
func (k *Kallsyms) module(i int) string {
	y := &k.syms[i]
	rest := k.text[y.name+uint32(y.length):]
	if rest == "" || rest[0] != '\t' {
		return ""
	}
	if n := strings.IndexByte(rest, '\n'); n >= 0 {
		rest = rest[:n]
	}
	if rest = strings.TrimSpace(rest); rest == "" {
		return ""
	}
	return rest[1 : len(rest)-1]
}

// unindexed is how many names are looked for line by line, before there is an index of them:
// that takes as long as a hundred of them.
const unindexed = 16

// Addr returns the address of the kernel's own symbol of that name.
func (k *Kallsyms) Addr(name string) (uint64, bool) {
	k.note(name)
	if k.few.Load() < unindexed {
		k.few.Add(1)
		for i := range k.syms {
			if int(k.syms[i].length) == len(name) && k.name(i) == name && k.module(i) == "" {
				return k.syms[i].addr, true
			}
		}
		return 0, false
	}
	k.once.Do(k.index)
	i, ok := k.named[name]
	if !ok {
		return 0, false
	}
	return k.syms[i].addr, true
}

// index makes named. Most who read a kallsyms never ask for a name.
func (k *Kallsyms) index() {
	k.named = make(map[string]int32, len(k.syms))
	for i := range k.syms {
		name := k.name(i)
		if _, have := k.named[name]; !have && k.module(i) == "" {
			k.named[name] = int32(i)
		}
	}
}

// OpenKallsyms reads a copy of /proc/kallsyms, packed or not. One whose
// addresses are all zero is an error with ErrRestricted in its chain.
func OpenKallsyms(path string) (*Kallsyms, error) {
	text, err := files.Tree{}.ReadText(path)
	if err != nil {
		return nil, err
	}
	return ParseKallsyms(text, path)
}

// ParseKallsyms reads lines "address type name", with a tab and "[module]"
// behind those of modules (kernel/kallsyms.c, s_show, v6.1). It keeps the text.
// file is for errors.
func ParseKallsyms(text, file string) (*Kallsyms, error) {
	if uint64(len(text)) > math.MaxUint32 {
		return nil, &badfile.Error{File: file, What: fmt.Sprintf("kallsyms: %d bytes, at most %d", len(text), uint32(math.MaxUint32))}
	}
	k := &Kallsyms{text: text, syms: make([]ksym, 0, strings.Count(text, "\n")+1)}
	zero := true
	for no, off := 1, 0; off < len(text); no++ {
		n := strings.IndexByte(text[off:], '\n')
		if n < 0 {
			n = len(text) - off
		}
		line := text[off : off+n]
		if n > 0 && line[n-1] == '\r' {
			line = strings.TrimRight(line, "\r")
		}
		if line != "" {
			y, bad := quickKsym(line)
			if bad != "" {
				return nil, &badfile.Error{File: file, Off: int64(off), What: fmt.Sprintf("line %d: %s, want \"address type name [module]\": %s", no, bad, shown([]byte(line)))}
			}
			y.name += uint32(off)
			zero = zero && y.addr == 0
			k.syms = append(k.syms, y)
		}
		off += n + 1
	}
	switch {
	case len(k.syms) == 0:
		return nil, &badfile.Error{File: file, What: "kallsyms: no symbols"}
	case zero:
		return nil, &badfile.Error{File: file, What: fmt.Sprintf("kallsyms: all %d addresses are zero", len(k.syms)), Err: ErrRestricted}
	}
	return k, nil
}

// quickKsym is parseKsym, which it asks where a line is not as kernels of 64 bits write it.
// TestQuickKsym holds it to that.
func quickKsym(line string) (y ksym, bad string) {
	if len(line) < 20 || line[16] != ' ' || line[17] == ' ' || line[18] != ' ' || strings.IndexByte(line[19:], '\t') >= 0 {
		return parseKsym(line)
	}
	high, ok := eightDigits(line)
	low, too := eightDigits(line[8:])
	if !ok || !too || len(line) > math.MaxUint16 {
		return parseKsym(line)
	}
	return ksym{addr: high<<32 | low, name: 19, length: uint16(len(line) - 19), number: line[17]|0x20 == 'a'}, ""
}

// eightDigits returns the value of the eight hexadecimal digits that s begins with; ok is false
// where they are no digits, or in upper case. It works on all at once, a byte each.
func eightDigits(s string) (v uint64, ok bool) {
	const ones = 0x0101010101010101
	w := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 | uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
	v = w&(0x0f*ones) + w>>6&ones*9 // bit 6 tells letters, whose lower half counts from 1
	back := v + 0x30*ones + (v+6*ones)>>4&ones*('a'-'0'-10)
	ok = back == w && v&(0xf0*ones) == 0
	v = bits.ReverseBytes64(v)
	v = (v | v>>4) & 0x00ff00ff00ff00ff
	v = (v | v>>8) & 0x0000ffff0000ffff
	return (v | v>>16) & 0xffffffff, ok
}

// parseKsym reads one line of kallsyms, in which the name's offset is from the
// start of the line; bad says what is wrong with it.
func parseKsym(line string) (y ksym, bad string) {
	i := 0
	for ; i < len(line); i++ {
		d := hexDigits[line[i]]
		if d > 15 {
			break
		}
		y.addr = y.addr<<4 | uint64(d)
	}
	if i == 0 || i > 16 || i == len(line) || line[i] != ' ' {
		return y, "no address"
	}
	for i < len(line) && line[i] == ' ' {
		i++
	}
	if i+1 >= len(line) || line[i+1] != ' ' {
		return y, "no type"
	}
	rest := line[i+2:]
	name, module, _ := strings.Cut(rest, "\t")
	switch module = strings.TrimSpace(module); {
	case name == "":
		return y, "no name"
	case len(name) > math.MaxUint16:
		return y, "a name of more than 65535 bytes"
	case module != "" && (len(module) < 3 || module[0] != '[' || module[len(module)-1] != ']'):
		return y, "no module's name in brackets"
	}
	y.name, y.length, y.number = uint32(i+2), uint16(len(name)), line[i]|0x20 == 'a'
	return y, ""
}

// hexDigits holds the value of each hexadecimal digit, 255 of anything else.
var hexDigits = func() (t [256]byte) {
	for c := range t {
		t[c] = 255
	}
	for i := range byte(10) {
		t['0'+i] = i
	}
	for i := range byte(6) {
		t['a'+i], t['A'+i] = 10+i, 10+i
	}
	return t
}()
