// Package process holds the processes of a recording: which thread ran where and
// when, what each process had mapped, and whose code a user address is.
//
// In go records of threads, switches and mappings, and the files that were mapped, as far
// as they are at hand. Out come the thread on a CPU at a moment (Tasks), and the code and
// the names of an address space (Spaces). The kernel's own code is not here: see kcore.
//
// An address space is a number; the walker asks by it which code it reads. Where several
// programs run on one CPU, Processes.Whose says which of them it is, and whether that is
// sure.
//
// Start reading in whose.go; then tasks.go and mappings.go.
package process
