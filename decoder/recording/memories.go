package recording

import (
	"bytes"
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/coresight/etmv3"
	"github.com/ptdecode/ptdecode/coresight/etmv4"
	"github.com/ptdecode/ptdecode/coresight/ptm"
	"github.com/ptdecode/ptdecode/decoder/stream"
	"github.com/ptdecode/ptdecode/internal/snapshot"
	"github.com/ptdecode/ptdecode/kcore/image"
)

// memories is a set of Arm's memory spaces: what one security state and
// exception level sees, EL0 as EL1.
type memories uint8

// The memory spaces.
const (
	memEL1S memories = 1 << iota
	memEL1N
	memEL1R
	memEL2S
	memEL2N
	memEL2R
	memEL3
	memRoot

	memSecure    = memEL1S | memEL2S | memEL3
	memNonSecure = memEL1N | memEL2N
	memRealm     = memEL1R | memEL2R
	memAny       = memories(0xff)
)

// memoriesOf returns the spaces that a dump says it is of. ARM-ECM-0611873,
// "Memory dumps".
func memoriesOf(s snapshot.Space) memories {
	switch s {
	case "EL1S":
		return memEL1S
	case "EL1N":
		return memEL1N
	case "EL1R":
		return memEL1R
	case "EL2S":
		return memEL2S
	case "EL2N":
		return memEL2N
	case "EL2R":
		return memEL2R
	case "EL3":
		return memEL3
	case "ROOT":
		return memRoot
	case "S":
		return memSecure
	case "N":
		return memNonSecure
	case "R":
		return memRealm
	}
	return memAny
}

// contextMemory returns the space of a context of ETMv4 or ETE by its
// information byte. DDI0487, "Context packet".
func contextMemory(info uint32) memories {
	el := info & etmv4.InfoEL
	switch realm, ns := info&etmv4.InfoNSE != 0, info&etmv4.InfoNS != 0; {
	case realm && !ns:
		return memRoot
	case realm:
		return [4]memories{memEL1R, memEL1R, memEL2R, memRoot}[el]
	case ns:
		return [4]memories{memEL1N, memEL1N, memEL2N, memEL3}[el]
	}
	return [4]memories{memEL1S, memEL1S, memEL2S, memEL3}[el]
}

// securityMemory returns the spaces of a security state: ETMv3 and PTM tell no
// more of where an instruction was read.
func securityMemory(ns bool) memories {
	if ns {
		return memNonSecure
	}
	return memSecure
}

// tracedIn returns the spaces of which a stream says that something ran in them.
func tracedIn(st *stream.Stream) (m memories) {
	data, ok := st.Data.(stream.Memory)
	if !ok {
		return memAny
	}
	switch st.CS.Protocol {
	case coresight.ETMv4, coresight.ETE:
		for p := range etmv4.NewLexer(st.CS, data, 0).All() {
			switch p.Kind {
			case etmv4.Context, etmv4.AddrCtxt32, etmv4.AddrCtxt64:
				m |= contextMemory(p.Extra)
			}
		}
	case coresight.ETMv3:
		for p := range etmv3.NewLexer((&etmv3.Config{Trace: st.CS}).Format(), data, 0).All() {
			if ns, ok := p.NonSecure(); ok {
				m |= securityMemory(ns)
			}
		}
	case coresight.PTM:
		for p := range ptm.NewLexer((&ptm.Config{Trace: st.CS}).Format(), data, 0).All() {
			if ns, ok := p.NonSecure(); ok {
				m |= securityMemory(ns)
			}
		}
	}
	return m
}

// dumps takes the memory of all cores as one: they dump what they share. What
// was dumped of memory that no traced code can see is left out. Where dumps lie
// over each other the first holds.
func (f *facts) dumps(snap *snapshot.Snapshot) {
	hidden := f.hidden(snap)
	list := make([]laidDump, 0, len(snap.Dumps))
	for i := range snap.Dumps {
		d := &snap.Dumps[i]
		if hidden(d) {
			continue
		}
		m := &image.Image{}
		file, err := snap.OpenDump(d)
		if err == nil {
			err = m.AddFile(d.Address, file, d.Off, d.Length)
		}
		if err != nil {
			f.Damagedf(hintDump, "%v", err)
		}
		list = append(list, laidDump{d, m})
	}
	f.disputes(snap, slices.Clone(list))
	f.Dumps = &image.Image{}
	for _, l := range slices.Backward(list) { // what is laid last lies on top
		f.Dumps.Add(l.memory)
	}
}

// laidDump is a dump with what it holds.
type laidDump struct {
	of     *snapshot.Dump
	memory *image.Image
}

// size returns how many bytes the dump holds.
func (l *laidDump) size() (n uint64) {
	for _, r := range l.memory.Ranges() {
		n += r.Len
	}
	return n
}

// disputes tells where dumps that lie over each other differ. list is put in
// order of addresses.
func (f *facts) disputes(snap *snapshot.Snapshot, list []laidDump) {
	slices.SortStableFunc(list, func(a, b laidDump) int { return cmp.Compare(a.of.Address, b.of.Address) })
	told := 0
	for i, top := 1, 0; i < len(list); i++ {
		a, b := &list[top], &list[i]
		off := b.of.Address - a.of.Address
		if off >= a.size() {
			top = i
			continue
		}
		n := min(b.size(), a.size()-off)
		if at, differ := firstDifference(a.memory, b.memory, b.of.Address, n, told < maxTold); differ {
			told++
			f.Warnf("keep the one of what was traced; space= tells memory apart that lies at the same address", "%s:%d: memory at 0x%x is another one in %s:%d: the one listed first is taken",
				filepath.Join(snap.Dir, b.of.Ini), b.of.Line, at, a.of.Ini, a.of.Line)
		}
		if off+b.size() > a.size() {
			top = i
		}
	}
}

// firstDifference returns the first of n addresses from addr on at which two
// images that hold all of them differ. It looks only if asked to.
func firstDifference(a, b *image.Image, addr, n uint64, look bool) (at uint64, differ bool) {
	var x, y [1 << 16]byte
	for look && n > 0 {
		k := min(n, uint64(len(x)))
		k = uint64(min(a.ReadAt(x[:k], addr), b.ReadAt(y[:k], addr)))
		if k == 0 { // a file that shrank
			break
		}
		if !bytes.Equal(x[:k], y[:k]) {
			for i := range k {
				if x[i] != y[i] {
					return addr + i, true
				}
			}
		}
		addr, n = addr+k, n-k
	}
	return 0, false
}

// hidden tells of the dumps of spaces in which nothing was traced, and reports
// which they are: what lies at the same address there is other memory. Where
// nothing is traced all may be looked at.
func (f *facts) hidden(snap *snapshot.Snapshot) func(d *snapshot.Dump) bool {
	var m memories
	for i := range snap.Dumps {
		if memoriesOf(snap.Dumps[i].Space) != memAny {
			for _, st := range f.Streams {
				m |= tracedIn(st)
			}
			break
		}
	}
	return func(d *snapshot.Dump) bool {
		if m == 0 || memoriesOf(d.Space)&m != 0 {
			return false
		}
		f.Warnf("correct or leave out space= in its section, if that is wrong", "%s:%d: memory at 0x%x is of space %s, in which nothing is traced (%s is): left out",
			filepath.Join(snap.Dir, d.Ini), d.Line, d.Address, d.Space, m)
		return true
	}
}

// String lists the spaces by the names that dumps have for them.
func (m memories) String() string {
	var names []string
	for i, n := range [8]string{"EL1S", "EL1N", "EL1R", "EL2S", "EL2N", "EL2R", "EL3", "ROOT"} {
		if m>>i&1 != 0 {
			names = append(names, n)
		}
	}
	return strings.Join(names, ", ")
}
