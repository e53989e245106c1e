package export

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/ptdecode/ptdecode/cmd/internal/terminal"
)

// covered is a block as drcov has it.
type covered struct {
	start uint32 // from the module's base, bytes
	size  uint16 // bytes
	mod   uint16
}

// drcovPage is what the length of a module is a multiple of, bytes.
const drcovPage = 4096

// writeDrcov writes DynamoRIO's coverage in version 2, with module table version 2: a table
// of files, and a table of blocks. Lighthouse reads it (gaasedelen/lighthouse,
// plugins/lighthouse/reader/parsers/drcov.py). drcov2lcov takes only the flavor of a DynamoRIO
// of 64 bits, and modules of whole pages that end behind all blocks
// (DynamoRIO/dynamorio, clients/drcov/postprocess/drcov2lcov.cpp).
func writeDrcov(j *job, w io.Writer) error {
	o := j.newObjects()
	ids := map[*object]uint16{}
	var mods []*object
	var list []covered
	for _, r := range j.ranges() {
		x := o.at(r.Block.Space, r.Block.Addr, r.Seen)
		off := uint64(0)
		if x != nil {
			off = x.vaddr(r.Block.Addr) - x.firstSegment()
		}
		switch size := r.End() - r.Block.Addr; {
		case x == nil:
			j.leaveOut(r.N*uint64(r.Insns), noFile)
		case x.Kernel && x.Start == 0:
			j.leaveOut(r.N*uint64(r.Insns), "the symbols have no _text, from which drcov counts the kernel's code; give all of /proc/kallsyms with --kallsyms")
		case off+size > 1<<32-1:
			j.leaveOut(r.N*uint64(r.Insns), "they lie more than 4 GiB behind where their file begins")
		default:
			id, ok := ids[x]
			if !ok {
				if len(mods) == 1<<16 {
					j.leaveOut(r.N*uint64(r.Insns), "the format has room for 65,536 files")
					continue
				}
				id = uint16(len(mods))
				ids[x], mods = id, append(mods, x)
			}
			o.at(r.Block.Space, r.End()-1, r.Seen)
			list = append(list, covered{uint32(off), uint16(size), id})
		}
	}
	slices.SortFunc(list, func(a, b covered) int {
		return cmp.Or(cmp.Compare(a.mod, b.mod), cmp.Compare(a.start, b.start), cmp.Compare(a.size, b.size))
	})
	list = slices.Compact(list)
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "DRCOV VERSION: 2\nDRCOV FLAVOR: drcov-64\nModule Table: version 2, count %d\nColumns: id, base, end, entry, path\n", len(mods))
	for i, x := range mods {
		// Where the address lies that offsets count from.
		base := x.Start
		if len(x.segs) > 0 && !x.Kernel && !x.Given {
			base += x.segs[0].Off
		}
		pages := (x.Start+x.size-base)/drcovPage + 1
		fmt.Fprintf(out, "%3d, 0x%016x, 0x%016x, 0x%016x, %s\n", i, base, base+pages*drcovPage, 0, terminal.Plain(cmp.Or(x.File, x.Name)))
	}
	fmt.Fprintf(out, "BB Table: %d bbs\n", len(list))
	if err := binary.Write(out, binary.LittleEndian, list); err != nil {
		return err
	}
	return out.Flush()
}
