// Package etmv3 reads the trace of Arm's Embedded Trace Macrocells of version 3
// (ETMv3.0 to 3.5, as in ARM11, Cortex-M3, R4, A5, A7 and A8). The bytes of a
// stream go in; packets, and the events that they mean, come out:
//
//   - Plan finds where a stream can be entered, and cuts it into segments that decode
//     on their own.
//   - A Lexer splits bytes into Packets, which keep their payload as sent.
//     Packet.Append is its exact inverse.
//   - A Decoder turns the packets of a segment into the events of package event.
//
// The package knows no machine code; package decoder/internal/flow follows events
// through it. Data packets are listed, but make no events. Of Jazelle and ThumbEE code
// the events say that it runs, but not what it does.
//
// Packets have a text form too, one a line (Packet.AppendText, Assemble), in which
// tests are written; docs/formats/etmv3-packets.md describes it.
//
// The formats follow the Embedded Trace Macrocell Architecture Specification,
// IHI0014Q; sections are named by their titles. Data packets follow OpenCSD,
// decoder/source/etmv3.
//
// Start reading in packet.go and spec.go, the table of layouts; then lexer.go, and
// decoder.go with flow.go. What ETMv3 shares with PTM is in coresight/internal/v3.
package etmv3
