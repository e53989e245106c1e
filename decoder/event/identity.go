package event

// Identity is what a trace states of the process that runs.
type Identity uint8

// The identities.
const (
	NoIdentity      Identity = iota // nothing that names a process
	PageTable                       // CR3, bits 51:5: Intel PT
	ThreadInContext                 // the thread's number in CONTEXTIDR of EL1, the lower half of what the trace states
	ThreadInVMID                    // the same in the place of the VMID, the upper half
)
