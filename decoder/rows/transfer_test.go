package rows

import "testing"

// TestTransferNames would catch a transfer whose word is another than perf's, or
// missing, alone and where tracing ended during it.
func TestTransferNames(t *testing.T) {
	for x, want := range map[Transfer]string{
		NoTransfer: "", TransferJump: "jmp", TransferCond: "jcc", TransferCall: "call", TransferReturn: "return",
		TransferSyscall: "syscall", TransferSysret: "sysret", TransferInt: "int", TransferIret: "iret", TransferVMEntry: "vmentry",
		TransferInterrupt: "hw int", TransferTrap: "trap", TransferAbort: "tx abrt", TransferTraceStart: "tr strt",
		TransferTraceEnd: "tr end", TransferTraceEnd | TransferCall: "tr end call", TransferTraceEnd | TransferInterrupt: "tr end hw int",
	} {
		if got := x.String(); got != want {
			t.Errorf("transfer %#x is called %q, want %q", uint8(x), got, want)
		}
	}
	for x := TransferJump; x < numTransfers; x++ {
		if x.String() == "" || x.unseen() != (x == TransferTraceStart) || !(x | TransferTraceEnd).unseen() {
			t.Errorf("transfer %d: name %q, unseen %t", x, x, x.unseen())
		}
	}
}
