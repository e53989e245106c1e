package recording

import (
	"bytes"
	"cmp"
	"path/filepath"
	"slices"

	"github.com/ptdecode/ptdecode/decoder/internal/stream"
	"github.com/ptdecode/ptdecode/decoder/snapshot"
	"github.com/ptdecode/ptdecode/kcore/image"
)

// memoriesOf returns the spaces that a dump says it is of. ARM-ECM-0611873,
// "Memory dumps".
func memoriesOf(s snapshot.Space) stream.Memories {
	switch s {
	case "EL1S":
		return stream.MemoryEL1S
	case "EL1N":
		return stream.MemoryEL1N
	case "EL1R":
		return stream.MemoryEL1R
	case "EL2S":
		return stream.MemoryEL2S
	case "EL2N":
		return stream.MemoryEL2N
	case "EL2R":
		return stream.MemoryEL2R
	case "EL3":
		return stream.MemoryEL3
	case "ROOT":
		return stream.MemoryRoot
	case "S":
		return stream.SecureMemory
	case "N":
		return stream.NonSecureMemory
	case "R":
		return stream.RealmMemory
	}
	return stream.AnyMemory
}

// tracedIn finds the spaces of which a stream says that something ran in them.
func tracedIn(st *stream.Stream, s *stream.MemorySearch) {
	if data, ok := st.Data.(stream.Memory); ok && st.Protocol.Memories != nil {
		st.Protocol.Memories(st, data, s)
	} else {
		s.Found = stream.AnyMemory
	}
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
// nothing is traced all may be looked at. The search ends where every dump's space was
// met: mostly with the first packets.
func (f *facts) hidden(snap *snapshot.Snapshot) func(d *snapshot.Dump) bool {
	search := stream.MemorySearch{Enough: func(found stream.Memories) bool {
		return !slices.ContainsFunc(snap.Dumps, func(d snapshot.Dump) bool { return memoriesOf(d.Space)&found == 0 })
	}}
	if slices.ContainsFunc(snap.Dumps, func(d snapshot.Dump) bool { return memoriesOf(d.Space) != stream.AnyMemory }) {
		for _, st := range f.Streams {
			if tracedIn(st, &search); search.Enough(search.Found) {
				break
			}
		}
	}
	return func(d *snapshot.Dump) bool {
		if search.Found == 0 || memoriesOf(d.Space)&search.Found != 0 {
			return false
		}
		f.Warnf("correct or leave out space= in its section, if that is wrong", "%s:%d: memory at 0x%x is of space %s, in which nothing is traced (%s is): left out",
			filepath.Join(snap.Dir, d.Ini), d.Line, d.Address, d.Space, search.Found)
		return true
	}
}
