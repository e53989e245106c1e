// Package image holds the code of one moment: the bytes of some ranges of
// addresses, as a copy of /proc/kcore, a vmlinux, a module's file or raw bytes
// have them. It knows nothing of changes to code: package kcore does.
//
// Nothing is filled in: what no file states is unknown. ELF files follow the
// ELF gABI. Modules are placed as the loader of Linux does it (kernel/module/main.c,
// v6.1), and what that loader rewrites is unknown.
//
// Not handled: what boot changes in the code of a vmlinux (alternatives, retpolines).
// Package decoder/internal/buildtime knows that, for x86-64 and arm64. A copy of
// /proc/kcore holds code as it ran.
//
// Start reading in image.go; open.go tells which kind of file there is.
package image
