package export

import (
	"bufio"
	"fmt"
	"io"
)

// writePCs writes a line for each executed block of the kernel: 0x and 16 digits, its
// first address. syzkaller's tools/syz-cover/syz-cover.go, readPCs, reads it.
func writePCs(j *job, w io.Writer) error {
	out := bufio.NewWriter(w)
	last, wrote := uint64(0), false
	for _, r := range j.ranges() {
		a := r.Block.Addr
		if r.Block.Space != 0 && !j.session.Kernel(a) {
			j.leaveOut(r.N*uint64(r.Insns), "they are of programs, and the format has no room for names of files")
			continue
		}
		if a != last || !wrote {
			fmt.Fprintf(out, "0x%016x\n", a)
		}
		last, wrote = a, true
	}
	return out.Flush()
}
