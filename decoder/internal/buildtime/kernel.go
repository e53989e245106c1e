package buildtime

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"sort"

	"github.com/ptdecode/ptdecode/decoder/badfile"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// Kind says what a Choice is about.
type Kind uint8

// The kinds of choices.
const (
	Feature  Kind = iota // ID: number of a CPU feature, 32 times the word plus the bit
	Key                  // ID: address of a static key, as linked
	Call                 // ID: address of a static call's key, as linked
	Returns              // ID 0: how functions return
	Callback             // ID: address of a function that writes code at boot, as linked, with a feature; arm64 only
)

// String returns the kind's name, for people.
func (k Kind) String() string {
	return [...]string{"CPU feature", "static key", "static call", "return thunk", "callback"}[k]
}

// Choice is one thing that boot settled for all sites that depend on it.
type Choice struct {
	Kind Kind
	ID   uint64
}

// ReturnThunk is the choice of how functions return.
var ReturnThunk = Choice{Returns, 0}

// The values of choices. 0 is that of the CPU that has nothing and of the boot that
// changed nothing. Of a choice that is Unknown no code is known.
const (
	Unknown = -1

	Absent, Present = 0, 1 // Feature; Callback: as built, or NOPs

	AsBuilt     = 0 // Key, Call
	Toggled     = 1 // Key: branches that jumped do not, and the other way round
	CallNothing = 1 // Call: the function was set to none
	CallZero    = 2 // Call: it was set to the one that returns 0
	CallOther   = 3 // Call: and on: it was set to another one that the kernel's code names

	ReturnInline = 0 // Returns: RET at the site
	ThunkBuilt   = 1 // jump to __x86_return_thunk
	ThunkOther   = 2 // jump to Kernel.Thunk
	ThunkLowHalf = 3 // jump to Kernel.Thunk in the lower half of a 64-byte line, else RET (its_return_thunk)
)

// State says what is known of a boot: values by choice. What is not there has the
// value 0.
type State map[Choice]int

// Get returns the value of c.
func (s State) Get(c Choice) int { return s[c] }

// With returns a copy of s in which c has the value v.
func (s State) With(c Choice, v int) State {
	s = maps.Clone(s)
	s[c] = v
	return s
}

// Kernel is a kernel's file with its tables read.
type Kernel struct {
	Thunk   uint64 // what ThunkOther and ThunkLowHalf jump to, as linked
	Tables  []Table
	file    *vmlinux
	groups  []*Group
	of      map[Choice][]*Group
	setters map[uint64][]uint64 // by key of static calls: the functions that code sets
}

// Table is what was found of one table.
type Table struct {
	Name  string
	Sites int // whose code stays after boot
}

// Find returns the address of a symbol, as linked; ok is false where it is not known.
type Find func(name string) (addr uint64, ok bool)

// wanted are the symbols that spare a search.
var wanted = []string{
	"__start___jump_table", "__stop___jump_table", "__start_static_call_sites", "__stop_static_call_sites",
	"__start_mcount_loc", "__stop_mcount_loc", "__fentry__", "__static_call_return0", "_paravirt_nop",
	"__x86_return_thunk", "__x86_indirect_thunk_array", armNops,
}

// Read reads a kernel's file of the given size, bytes. find tells symbols that the
// file itself lacks; nil: none. A file without tables of alternatives is an error: it is
// no vmlinux, or one whose boot changed nothing.
func Read(r io.ReaderAt, size int64, name string, find Find) (*Kernel, error) {
	v, err := load(r, size, name)
	if err != nil {
		return nil, err
	}
	if len(v.sections[".altinstructions"].data) == 0 || len(v.text.data) == 0 {
		return nil, &badfile.Error{File: name, What: "vmlinux: no section .altinstructions: what boot changes is not known"}
	}
	if n := len(v.sections[".altinstructions"].data); n%alternativeSize != 0 {
		return nil, &badfile.Error{File: name, What: fmt.Sprintf("vmlinux: .altinstructions: %d bytes, no multiple of %d: the kernel is not one of v5.17 to v6.2", n, alternativeSize)}
	}
	for _, y := range wanted {
		if find == nil {
			break
		}
		if a, ok := find(y); ok && v.symbols[y] == 0 {
			v.symbols[y] = a
		}
	}
	k := &Kernel{file: v, of: map[Choice][]*Group{}}
	k.readTables()
	return k, nil
}

// readTables reads all tables.
func (k *Kernel) readTables() {
	v := k.file
	var all []site
	add := func(name string, list []site) {
		k.Tables = append(k.Tables, Table{name, len(list)})
		all = append(all, list...)
	}
	if v.arm {
		add("static branches", jumpSites(v, v.findTable(jumpTable)))
		add("alternatives", k.armAlternatives())
		k.group(all)
		return
	}
	v.findFentry()
	add("static calls", k.callSites(v.findTable(callTable)))
	add("static branches", jumpSites(v, v.findTable(jumpTable)))
	add("ftrace sites", mcountSites(v, v.findTable(mcountTable)))
	add("paravirt calls", paravirtSites(v))
	add("retpolines", retpolineSites(v))
	add("returns", k.returnSites())
	add("alternatives", alternativeSites(v))
	k.group(all)
}

// group makes groups of all sites.
func (k *Kernel) group(all []site) {
	k.groups = groups(k.file, all)
	for _, g := range k.groups {
		for _, c := range g.Choices {
			k.of[c] = append(k.of[c], g)
		}
	}
}

// Mode returns the mode that the kernel's code runs in.
func (k *Kernel) Mode() isa.Mode {
	if k.file.arm {
		return isa.ModeA64
	}
	return isa.Mode64
}

// Groups returns all groups, by address.
func (k *Kernel) Groups() []*Group { return k.groups }

// Of returns the groups that depend on c, by address.
func (k *Kernel) Of(c Choice) []*Group { return k.of[c] }

// Choices returns all choices, by kind and number.
func (k *Kernel) Choices() []Choice {
	return slices.SortedFunc(maps.Keys(k.of), func(a, b Choice) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID)) })
}

// Values returns the values that c may have.
func (k *Kernel) Values(c Choice) []int {
	switch c.Kind {
	case Call:
		list := []int{AsBuilt, CallNothing, CallZero}
		for i := range k.setters[c.ID] {
			list = append(list, CallOther+i)
		}
		return list
	case Returns:
		return []int{ReturnInline, ThunkBuilt, ThunkOther, ThunkLowHalf}
	}
	return []int{0, 1}
}

// Within appends the groups that have a byte in [addr, end) to dst.
func (k *Kernel) Within(dst []*Group, addr, end uint64) []*Group {
	i := sort.Search(len(k.groups), func(i int) bool { return k.groups[i].Last() >= addr })
	for ; i < len(k.groups) && k.groups[i].Addr < end; i++ {
		dst = append(dst, k.groups[i])
	}
	return dst
}

// Text returns the kernel's code as built and where it lies, as linked.
func (k *Kernel) Text() (addr uint64, code []byte) { return k.file.text.addr, k.file.text.data }

// Candidate is a site whose code the file alone does not tell.
type Candidate struct {
	Addr uint64   // as linked
	Code [][]byte // what may lie there, the likeliest first
	Why  string   // what decides it
}

// Candidates returns the groups whose code depends on one of the choices that open
// names, each with its versions; the others are as s says.
func (k *Kernel) Candidates(s State, open map[Choice]bool) (list []Candidate) {
	for _, g := range k.groups {
		states, why := []State{s}, ""
		for _, c := range g.Choices {
			if !open[c] {
				continue
			}
			why += fmt.Sprintf(", %s %#x", c.Kind, c.ID)
			for _, x := range slices.Clone(states) {
				for _, v := range k.Values(c) {
					if v != x.Get(c) {
						states = append(states, x.With(c, v))
					}
				}
			}
		}
		if why == "" {
			continue
		}
		x := Candidate{Addr: g.Addr, Why: why[2:]}
		for _, s := range states {
			if code := g.Code(s); code != nil && !slices.ContainsFunc(x.Code, func(b []byte) bool { return slices.Equal(b, code) }) {
				x.Code = append(x.Code, code)
			}
		}
		if len(x.Code) > 1 {
			list = append(list, x)
		}
	}
	return list
}

// Functions returns where functions begin, as far as the file tells. On x86-64 these are the
// addresses that call __fentry__, and those of the ENDBR before them. On arm64 calls return to
// some of them.
func (k *Kernel) Functions() (list []uint64) {
	if k.file.arm {
		return k.armFunctions()
	}
	for _, g := range k.groups {
		if len(g.Choices) > 0 || len(g.Built) != 5 || g.Built[0] != opCall {
			continue
		}
		list = append(list, g.Addr)
		if b := k.file.at(g.Addr-4, 4); b != nil && bytes.Equal(b, []byte{0xf3, 0x0f, 0x1e, 0xfa}) {
			list = append(list, g.Addr-4)
		}
	}
	return list
}
