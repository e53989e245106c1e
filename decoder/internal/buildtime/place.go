package buildtime

import "encoding/binary"

// Where a kernel may lie. On x86-64 KASLR moves it by a multiple of CONFIG_PHYSICAL_ALIGN,
// at least 2 MiB, within 1 GiB (arch/x86/boot/compressed/kaslr.c, KERNEL_IMAGE_SIZE; v6.1). On
// arm64 it does so by a multiple of 2 MiB (arch/arm64/include/asm/boot.h, MIN_KIMG_ALIGN; v6.12).
const (
	kaslrStep = 2 << 20
	kaslrSize = 1 << 30
)

// Shift returns by how much boot moved k if what is linked near one address lies at another.
func (k *Kernel) Shift(linked, runs uint64) uint64 {
	return (runs - linked + kaslrStep/2) &^ (kaslrStep - 1)
}

// Place returns by how much boot moved k: so that most targets that a trace states are
// where Functions says. best is how many are, second how many at the next best place.
func (k *Kernel) Place(targets map[uint64]bool) (shift uint64, best, second int) {
	starts := map[uint64][]uint64{} // by what KASLR leaves of an address
	for _, a := range k.Functions() {
		starts[a%kaslrStep] = append(starts[a%kaslrStep], a)
	}
	votes := map[uint64]int{}
	for t := range targets {
		for _, a := range starts[t%kaslrStep] {
			if d := t - a; d < kaslrSize || k.file.arm {
				votes[d]++
			}
		}
	}
	for d, n := range votes {
		switch {
		case n > best || n == best && d < shift:
			shift, best, second = d, n, best
		case n > second:
			second = n
		}
	}
	return shift, best, second
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
