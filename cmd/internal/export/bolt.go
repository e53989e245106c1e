package export

import (
	"bufio"
	"fmt"
	"io"
)

// writeBolt writes BOLT's pre-aggregated profile (llvm-project, bolt/docs/profiles.md, and
// bolt/include/bolt/Profile/DataAggregator.h of LLVM 19): B FROM TO COUNT MISPREDICTED for
// branches that were taken, F START END COUNT for what ran straight on, f where that was
// entered from outside of the file. Addresses are the file's own, behind its build ID and a
// colon where that is known. Outside of the file is 0.
//
// Newer versions also read T, a branch with what ran behind it. It says the same as B and
// F together, and older ones refuse it.
func writeBolt(j *job, w io.Writer) error {
	p, err := j.profileOf(func(*object) uint64 { return 0 })
	if err != nil || p.of == nil {
		return err
	}
	id := ""
	if p.of.BuildID != "" {
		id = p.of.BuildID + ":"
	}
	at := func(a uint64) string {
		if a == 0 {
			return "0"
		}
		return fmt.Sprintf("%s%x", id, a)
	}
	out := bufio.NewWriter(w)
	inside := map[uint64]uint64{} // by address: branches of the file that lead there
	for _, c := range p.branches {
		fmt.Fprintf(out, "B %s %s %d 0\n", at(c.from), at(c.to), c.n)
		inside[c.to] += c.n
	}
	for _, c := range p.entries {
		fmt.Fprintf(out, "B 0 %s %d 0\n", at(c.to), c.n)
	}
	for _, c := range p.ranges {
		if p.of.stub(c.from) { // BOLT does not disassemble them, and warns of what ran there
			continue
		}
		known := min(c.n, inside[c.from])
		inside[c.from] -= known
		if known > 0 {
			fmt.Fprintf(out, "F %s %s %d\n", at(c.from), at(c.to), known)
		}
		if known < c.n {
			fmt.Fprintf(out, "f %s %s %d\n", at(c.from), at(c.to), c.n-known)
		}
	}
	return out.Flush()
}
