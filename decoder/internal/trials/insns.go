package trials

import "github.com/ptdecode/ptdecode/decoder/internal/flow"

// Insns is a sink that counts instructions of the kernel.
type Insns int

// Flow counts those of b.
func (k *Insns) Flow(b *flow.Batch) error {
	for i := range b.Ranges {
		if r := &b.Ranges[i]; r.Block.Space == 0 {
			*k += Insns(r.N)
		}
	}
	return nil
}
