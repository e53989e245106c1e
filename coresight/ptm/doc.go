// Package ptm reads the Program Flow Trace of Arm's Program Trace Macrocell (PFT
// 1.0 and 1.1, as in Cortex-A9, A12, A15 and A17). The bytes of a stream go in;
// packets, and the events that they mean, come out:
//
//   - Plan finds where a stream can be entered, and cuts it into segments that decode
//     on their own.
//   - A Lexer splits bytes into Packets, which keep their payload as sent.
//     Packet.Append is its exact inverse.
//   - A Decoder turns the packets of a segment into the events of package event.
//
// The package knows no machine code; package decoder/internal/flow follows events
// through it. Of Jazelle and ThumbEE code the events say that it runs, but not what it
// does.
//
// Packets have a text form too, one a line (Packet.AppendText, Assemble), in which
// tests are written; docs/formats/ptm-packets.md describes it.
//
// The formats follow the Arm CoreSight Program Flow Trace Architecture
// Specification, IHI0035B; sections are named by their titles. What it leaves
// open, such as which outcomes an Atom packet holds, follows OpenCSD,
// decoder/source/ptm.
//
// Start reading in packet.go and spec.go, the table of layouts; then lexer.go, and
// decoder.go with flow.go. What PTM shares with ETMv3 is in coresight/internal/v3.
package ptm
