// Package symbols names kernel addresses. The names come from copies of /proc/kallsyms and
// /proc/modules (Linux v6.1), and from the KSYMBOL records of a recording, which hold for as
// long as each symbol lived (include/uapi/linux/perf_event.h).
//
// In go a Kallsyms, the Modules and the Ksymbols; any may be missing. Out comes a Table,
// which finds the symbol at an address and a time, and the address of a name. It does not
// know the code of user programs, whose names are in decoder/internal/elfnames.
//
// Start reading in symbols.go. late.go joins copies from before and after a recording;
// cut.go has what a bundle keeps of kallsyms.
package symbols
