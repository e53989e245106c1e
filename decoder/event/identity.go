package event

// Identity is what the Context events of a trace state of the process that runs.
type Identity uint8

// The identities.
const (
	NoIdentity      Identity = iota // nothing that names a process
	PageTable                       // Intel PT: bits 51:5 of CR3, in the Value of a DetailCR3
	ThreadInContext                 // Arm: the thread's number, in CONTEXTIDR_EL1, bits 31..0 of the Value of a DetailPE
	ThreadInVMID                    // Arm: the thread's number, in CONTEXTIDR_EL2, in place of the VMID: bits 63..32 of that Value
)
