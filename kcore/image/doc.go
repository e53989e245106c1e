// Package image holds the code of one moment: the bytes of some ranges of
// addresses, as a copy of /proc/kcore, a vmlinux, a module's file or raw bytes
// have them.
//
// Nothing is filled in: what no file states is unknown. ELF files follow the
// ELF gABI. Modules are placed as the loader of Linux does it (kernel/module/main.c,
// v6.1), and what that loader rewrites is unknown.
//
// Not handled: what the boot of a vmlinux changes in its code (alternatives,
// retpolines); package decoder/internal/buildtime knows that of x86-64's. A copy of
// /proc/kcore holds code as it ran.
package image
