// Package buildtime makes of a kernel's file, a vmlinux, the code that the booted
// kernel runs. The file holds code as it was built. Boot rewrites it by tables
// that lie in the file too, one per kind of site.
//
// In go the file and what is known of the boot: a State, which holds one value for
// each Choice. Out comes code, group by group. What decides a site is shared: all
// alternatives that test one CPU feature change together, and so do all branches of
// one static key. So a boot is told by a few hundred choices, not by 100,000 sites.
//
// For arm64 they are those of v6.12: arch/arm64/include/asm/alternative.h, jump_label.h, and
// arch/arm64/kernel/alternative.c. The layouts and rules for x86-64 are those of v6.1:
// arch/x86/include/asm/alternative.h, jump_label.h, static_call.h, paravirt_types.h,
// and arch/x86/kernel/alternative.c, paravirt.c, static_call.c, jump_label.c, ftrace.c.
// Debian's 6.1.192 shows the rule of ITS (its_return_thunk), which v6.1 lacks.
// docs/formats/vmlinux.md has the tables.
//
// Not handled: modules, and what boot wrote into code by other ways
// than tables. Lock prefixes (.smp_locks) and addresses in instructions that KASLR moves
// stay as built, since they change no length and no target.
package buildtime
