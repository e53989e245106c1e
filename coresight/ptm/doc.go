// Package ptm reads the Program Flow Trace of Arm's Program Trace Macrocell (PFT
// 1.0 and 1.1, as in Cortex-A9, A12, A15 and A17). The bytes of a stream go in,
// packets and what they mean come out.
//
// findSync finds the places where a stream can be entered. A Lexer splits
// bytes into Packets, which keep their payload as sent; Append is its
// exact inverse. Packets have a text form too, one a line (AppendText,
// Assemble), in which tests are written;
// docs/formats/ptm-packets.md describes it. A Decoder turns the packets of a
// segment into the events of package event; it knows no machine code,
// following it is for package flow.
//
// The formats follow the Arm CoreSight Program Flow Trace Architecture
// Specification, IHI0035B; sections are named by their titles. What it leaves
// to the reader, as the outcomes of an Atom packet, follows OpenCSD,
// decoder/source/ptm. Jazelle and ThumbEE code is told, not followed.
package ptm
