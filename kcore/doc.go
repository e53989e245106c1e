// Package kcore knows kernel code in time: what bytes lay at an address at any
// moment of a recording, and how sure that is.
//
// In go images of code (package image), the symbols of the running kernel (package
// symbols) and every change that was made to its code while the recording ran. One change
// is a Poke, and all of them in order are the Journal. Out comes Text. An epoch counts the
// pokes that were made so far. For an address and an epoch, Text answers the bytes, and the
// span of epochs for which they hold. It is immutable and is shared without locks.
//
// Nothing is filled in: a byte that no source states is unknown, and so is
// one of which two sources disagree. Such a disagreement is a Finding.
//
// Not handled: where the records come from (package decoder/internal/recording reads
// them), the code of user programs, and which epoch a CPU is in. Journal.Epochs bounds
// that by time alone; package decoder/internal/flow settles it by the trace.
//
// The facts of the kernel's patching are those of Linux v6.1 to v7.3:
// arch/x86/kernel/alternative.c, arch/x86/kernel/kprobes/, kernel/jump_label.c,
// kernel/trace/ftrace.c; the record is PERF_RECORD_TEXT_POKE of
// include/uapi/linux/perf_event.h.
//
// Start reading in poke.go and schemes.go, for what a change is and what it promises.
// Then come journal.go, for the order of changes, and text.go, for the bytes. placement.go
// finds out when an image was taken; lost_records.go has what is unknown where records
// were lost.
package kcore
