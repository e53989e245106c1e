// Package x86 reads x86 instructions as far as a flow walker needs them:
// length, class and static target, in 16, 32 and 64-bit code. Decode takes the
// bytes at an address and gives an isa.Insn; Format gives a line of
// disassembly for people.
//
// It follows these manuals:
//
//   - Intel 64 and IA-32 Architectures Software Developer's Manual (order number
//     325462), volume 2, "Instruction Format" and appendix A "Opcode Map"
//   - Intel APX Architecture Specification (355828), for REX2, extended EVEX and
//     JMPABS
//   - AMD64 Architecture Programmer's Manual, volumes 3 (24594) and 6 (43479), for
//     3DNow!, SSE4A and XOP
//
// Where the two makers differ it reads as Intel does, since Intel PT is what is
// decoded.
//
// Decode does not read operands, and does not check that a processor has the
// feature. Some prefixes fault on one instruction only (LOCK, mostly), and some
// opcodes of VEX, EVEX and XOP maps nobody has assigned. Both have the length that
// the format gives them, and class Other. docs/formats/x86.md lists what it covers.
package x86
