package buildtime

import "encoding/binary"

// Where a kernel may lie. On x86-64 KASLR moves it by a multiple of CONFIG_PHYSICAL_ALIGN,
// at least 2 MiB, within 1 GiB (arch/x86/boot/compressed/kaslr.c, KERNEL_IMAGE_SIZE; v6.1). On
// arm64 it does so by a multiple of 2 MiB (arch/arm64/include/asm/boot.h, MIN_KIMG_ALIGN; v6.12).
const (
	kaslrStep = 2 << 20
	kaslrSize = 1 << 30
)

// coreAt is where that 1 GiB begins on x86-64. Modules lie behind it, and all else before it
// (arch/x86/include/asm/page_64_types.h, __START_KERNEL_map; v6.1).
const coreAt = 0xffffffff80000000

// placeMargin is how many targets more than twice those at the next best place must tell of a
// place. Where only modules ran, chance alone puts about 10 of 60 at one place of an arm64 kernel.
const placeMargin = 16

// Place is where a trace's targets say that a kernel ran.
type Place struct {
	Shift  uint64 // by how much boot moved it
	Best   int    // targets that are then where Functions says
	Second int    // targets that are so at the next best place
	Inside int    // targets that are then in its code
	Of     int    // targets that may be in its code at any place
}

// Clear reports whether the targets tell that the kernel ran there, and that chance does not
// say so. Most of those that may be in its code must be, too.
func (p Place) Clear() bool {
	return p.Best >= 2*p.Second+placeMargin && 2*p.Inside > p.Of
}

// Shift returns by how much boot moved k if what is linked near one address lies at another.
func (k *Kernel) Shift(linked, runs uint64) uint64 {
	return (runs - linked + kaslrStep/2) &^ (kaslrStep - 1)
}

// Place returns where most of the targets that a trace states are where Functions says. Targets
// are addresses of the kernel's half.
func (k *Kernel) Place(targets map[uint64]bool) (p Place) {
	starts := map[uint64][]uint64{} // by what KASLR leaves of an address
	for _, a := range k.Functions() {
		starts[a%kaslrStep] = append(starts[a%kaslrStep], a)
	}
	text, size := k.file.text.addr, uint64(len(k.file.text.data))
	votes := map[uint64]int{}
	for t := range targets {
		if !k.file.arm && t-coreAt >= kaslrSize {
			continue // of a module, or of code that was made
		}
		p.Of++
		for _, a := range starts[t%kaslrStep] {
			d := t - a
			if k.file.arm || d < kaslrSize && text+d-coreAt <= kaslrSize-size {
				votes[d]++
			}
		}
	}
	for d, n := range votes {
		switch {
		case n > p.Best || n == p.Best && d < p.Shift:
			p.Shift, p.Best, p.Second = d, n, p.Best
		case n > p.Second:
			p.Second = n
		}
	}
	for t := range targets {
		if t-text-p.Shift < size {
			p.Inside++
		}
	}
	return p
}

// Words of arm64 that functions begin with which pointers lead to, BTI C and PACIASP, and
// calls: BL, and BLR with its bits (DDI0487, C6.2).
const (
	armBTI  = 0xd503245f
	armPAC  = 0xd503233f
	armBL   = 0x94000000
	armBLR  = 0xd63f0000
	armBLRs = 0xfffffc1f
)

// armFunctions returns where code begins that pointers may lead to, and where calls return to:
// an Arm trace states most returns.
func (k *Kernel) armFunctions() (list []uint64) {
	for b, at := k.file.text.data, k.file.text.addr; len(b) >= armSize; b, at = b[armSize:], at+armSize {
		switch w := binary.LittleEndian.Uint32(b); {
		case w == armBTI || w == armPAC:
			list = append(list, at)
		case w>>26 == armBL>>26 || w&armBLRs == armBLR:
			list = append(list, at+armSize)
		}
	}
	return list
}
