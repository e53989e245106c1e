// Package guests takes the trace of a CPU apart that runs virtual machines (guests)
// beside its own kernel: what each of them executed becomes a stream of its own.
//
// All of them use the same addresses for other code. The trace says where it changes
// between root and non-root operation, by the NR bit of PIP packets (Intel SDM, volume
// 3C, section "VMX-Specific Packets and VMCS Controls"). A Part gives the events of one
// machine. To it, a stay elsewhere looks like code that is not traced: tracing ends
// where control leaves the machine, and is taken up where control comes back. So each
// machine is walked with code, changes and symbols of its own, and no walk has to know
// of another machine.
//
// The trace does not say which guest runs, but whose thread does: the records of
// switches do, and the VMCS that was loaded where these are in doubt (whose.go).
//
// A guest's records have the times of its own clock. The trace tells how far that is
// off: breakpoints of the kernel's own changes were taken while these were made
// (offset.go).
package guests
