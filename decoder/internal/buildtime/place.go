package buildtime

// Where a kernel of x86-64 may lie: KASLR moves it by a multiple of
// CONFIG_PHYSICAL_ALIGN, at least 2 MiB, within 1 GiB (arch/x86/boot/compressed/kaslr.c,
// KERNEL_IMAGE_SIZE; v6.1).
const (
	kaslrStep = 2 << 20
	kaslrSize = 1 << 30
)

// Place returns by how much boot moved k: so that most targets that a trace states are
// starts of functions. best is how many are, second how many at the next best place.
func (k *Kernel) Place(targets map[uint64]bool) (shift uint64, best, second int) {
	starts := map[uint64]bool{}
	for _, a := range k.Functions() {
		starts[a] = true
	}
	for d := uint64(0); d < kaslrSize; d += kaslrStep {
		n := 0
		for t := range targets {
			if starts[t-d] {
				n++
			}
		}
		if n > best {
			best, second, shift = n, best, d
		} else if n > second {
			second = n
		}
	}
	return shift, best, second
}
