package rows

import "github.com/ptdecode/ptdecode/decoder/isa"

// Transfer is how the flow left one place for another.
type Transfer uint8

// The transfers. TransferTraceEnd goes together with the one during which
// tracing ended: TransferTraceEnd|TransferCall.
const (
	NoTransfer         Transfer = iota
	TransferJump                // an unconditional branch
	TransferCond                // a conditional branch
	TransferCall                // a call
	TransferReturn              // a return from a call
	TransferSyscall             // a system call
	TransferSysret              // the return from a system call: SYSRET, SYSEXIT
	TransferInt                 // an exception that an instruction asks for
	TransferIret                // the return from an exception or interrupt
	TransferVMEntry             // the entry to a virtual machine
	TransferInterrupt           // an interrupt or a fault
	TransferTrap                // a breakpoint exception
	TransferAbort               // a transaction failed
	TransferTraceStart          // tracing came on
	numTransfers

	TransferTraceEnd Transfer = 1 << 7 // tracing went off
)

// transferNames are the words of perf script's field "flags", where it has one
// (tools/perf/Documentation/perf-script.txt).
var transferNames = [numTransfers]string{
	"", "jmp", "jcc", "call", "return", "syscall", "sysret", "int", "iret", "vmentry", "hw int", "trap", "tx abrt", "tr strt",
}

// traceEndNames are the names of transfers during which tracing ended.
var traceEndNames = func() (names [numTransfers]string) {
	for i, n := range transferNames {
		names[i] = "tr end"
		if n != "" {
			names[i] += " " + n
		}
	}
	return names
}()

// String returns the transfer's name, "" for none.
func (t Transfer) String() string {
	if t&TransferTraceEnd != 0 {
		return traceEndNames[t&^TransferTraceEnd]
	}
	return transferNames[t]
}

// unseen reports whether the flow before or behind the transfer is not seen.
func (t Transfer) unseen() bool { return t == TransferTraceStart || t&TransferTraceEnd != 0 }

// transferOf returns what the branch instruction at the end of r does.
func (n *Names) transferOf(r *Row) Transfer {
	switch r.Class {
	case isa.Jump, isa.JumpInd, isa.FarJump, isa.JumpAbs:
		return TransferJump
	case isa.Cond:
		return TransferCond
	case isa.Call, isa.CallInd:
		return TransferCall
	case isa.Return:
		return TransferReturn
	case isa.Syscall:
		return TransferSyscall
	case isa.SoftInt, isa.Break, isa.Undefined:
		return TransferInt
	case isa.VMEnter:
		return TransferVMEntry
	case isa.FarReturn:
		return n.farReturn(r)
	}
	return NoTransfer
}

// farReturn tells SYSRET and SYSEXIT (0f 07, 0f 35) from the returns of
// interrupts. Intel SDM, volume 2, "Opcode Map".
func (n *Names) farReturn(r *Row) Transfer {
	b := n.Bytes(r)
	for len(b) > 2 {
		b = b[1:] // prefixes
	}
	if len(b) == 2 && b[0] == 0x0f && (b[1] == 0x07 || b[1] == 0x35) {
		return TransferSysret
	}
	return TransferIret
}
