// Package kcore knows kernel code in time: what bytes lay at an address at any
// moment of a recording, and how sure that is.
//
// In go images of code (package image), the symbols of the running kernel
// (package symbols) and every change that was made to its code while the
// recording ran (Poke, Journal). Out comes Text. For an address and an epoch it
// answers the bytes, and the span of epochs for which they hold. Text is
// immutable and is shared without locks.
//
// Nothing is filled in: a byte that no source states is unknown, and so is
// one of which two sources disagree.
//
// The facts of the kernel's patching are those of Linux v6.1 to v7.3:
// arch/x86/kernel/alternative.c, arch/x86/kernel/kprobes/, kernel/jump_label.c,
// kernel/trace/ftrace.c; the record is PERF_RECORD_TEXT_POKE of
// include/uapi/linux/perf_event.h.
package kcore
