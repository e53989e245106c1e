// Package a32 reads the 32-bit instructions of Arm: A32 (4 bytes each) and T32
// (Thumb: 2 or 4). It reads what a flow walker needs: length, class and static
// target. Instructions lie in little-endian order whatever the data's order. Decode
// takes the bytes at an address and gives an isa.Insn. Format gives a line of
// disassembly for people.
//
// It follows these manuals:
//
//   - Arm Architecture Reference Manual for A-profile architecture (DDI0487), part
//     F, chapters "T32 Base Instruction Set Encoding" and "A32 Base Instruction Set
//     Encoding"
//   - Arm Architecture Reference Manual, Armv7-A and Armv7-R (DDI0406C), chapters A5
//     and A6
//   - Armv8-M Architecture Reference Manual (DDI0553), for the loop instructions
//     WLS, LE and their kin, BXNS, BLXNS, BXAUT
//
// Decode has no state, and so does not know of IT blocks. IT is an instruction like
// any other, and every T32 instruction may have a condition that is not in its
// bits. A32 instructions tell theirs by isa.FlagConditional.
//
// Not handled:
//
//   - Jazelle and ThumbEE: ENTERX and LEAVEX go on, and Decode reads what follows
//     them as T32
//   - code in big-endian order (BE-32)
//   - the branch that BF, BFL, BFX, BFLX and BFCSEL of Armv8.1-M arrange for a later
//     address
//
// Decode reads no other operands, and does not check that a processor has the
// feature. docs/formats/a32.md lists what it covers.
package a32
