// Package x86 reads x86 instructions as far as a flow walker needs them:
// length, class and static target, in 16, 32 and 64-bit code. Decode takes the
// bytes at an address and gives an isa.Insn; Format gives a line of
// disassembly for people.
//
// It follows the Intel 64 and IA-32 Architectures Software Developer's Manual
// (order number 325462), volume 2, "Instruction Format" and appendix A
// "Opcode Map"; the Intel APX Architecture Specification (355828) for REX2,
// extended EVEX and JMPABS; and the AMD64 Architecture Programmer's Manual,
// volumes 3 (24594) and 6 (43479), for 3DNow!, SSE4A and XOP. Where the two
// makers differ Intel's reading is taken, since Intel PT is what is decoded.
//
// Operands are not read, nor is it checked that a processor has the feature.
// A prefix that faults on one instruction only (LOCK, mostly) and an opcode
// nobody has assigned in a VEX, EVEX or XOP map have the length the format
// gives them, and class Other. docs/formats/x86.md lists what is covered.
package x86
