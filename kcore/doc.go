// Package kcore knows kernel text in time: what bytes lay at an address at any
// moment of a recording, and how sure that is.
//
// In go images of text (a copy of /proc/kcore, vmlinux, modules, raw bytes:
// Image), the symbols of the running kernel (Symbols) and every change that
// was made to its text while the recording ran (Poke, Journal). Out comes
// Text, which answers for an address and an epoch the bytes and the span of
// epochs for which they hold. Text is immutable and is shared without locks.
//
// Nothing is filled in: a byte that no source states is unknown, and so is
// one of which two sources disagree.
//
// The facts of the kernel's patching are those of Linux v6.1 to v7.3:
// arch/x86/kernel/alternative.c, arch/x86/kernel/kprobes/, kernel/jump_label.c,
// kernel/trace/ftrace.c; the record is PERF_RECORD_TEXT_POKE of
// include/uapi/linux/perf_event.h.
//
// Not handled: what the loader of a vmlinux or of a module changes in text
// (alternatives, retpolines); a copy of /proc/kcore holds text as it ran.
package kcore
