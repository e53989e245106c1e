// Package elfnames names the code of an ELF file: a program, a shared library, the
// vDSO, or the debug file of one. Names come from .symtab, .dynsym and .gnu_debugdata,
// and from the relocations that stubs of the procedure linkage table jump through. Arm's
// mapping symbols say which instruction set the code is of.
//
// The sources are the System V gABI, chapters "Object Files" and "Symbol Table", and the
// psABI of each machine. "ELF for the Arm Architecture" (2023Q3), section "Mapping
// symbols", and gdb's manual, "Debugging Information in Separate Files" and
// "MiniDebugInfo", have the rest. A stripped file without section headers has no names here.
//
// Nothing is believed of a file: sizes are held against what it has.
package elfnames
