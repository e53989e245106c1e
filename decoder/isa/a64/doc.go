// Package a64 reads A64 instructions, the 64-bit instruction set of Arm, as far
// as a flow walker needs them: class and static target. All are 4 bytes, in
// little-endian order whatever the data's order. Decode takes the bytes at an
// address and gives an isa.Insn; Format gives a line of disassembly for people.
//
// It follows these manuals:
//
//   - Arm Architecture Reference Manual for A-profile architecture (DDI0487),
//     chapter "A64 Instruction Set Encoding", group "Branches, Exception Generating
//     and System instructions"
//   - Arm's A64 instruction set descriptions (DDI0602), for what is newer: FEAT_HBC,
//     FEAT_CMPBR, FEAT_PAuth_LR, FEAT_WFxT, FEAT_TEV
//   - DDI0617, for FEAT_TME
//
// Operands are not read, nor is it checked that a processor has the feature.
// Which classes a trace unit gives an atom for is no matter of the instruction
// set but of isa.Rules. docs/formats/a64.md lists what is covered.
package a64
