// Package etmv3 reads the trace of Arm's Embedded Trace Macrocells of version 3
// (ETMv3.0 to 3.5, as in ARM11, Cortex-M3, R4, A5, A7 and A8). The bytes of a
// stream go in, packets and what they mean come out. Data packets are listed; what
// they say is not told.
//
// findSync finds the places where a stream can be entered. A Lexer splits
// bytes into Packets, which keep their payload as sent; Append is its
// exact inverse. Packets have a text form too, one a line (AppendText,
// Assemble), in which tests are written;
// docs/formats/etmv3-packets.md describes it. A Decoder turns the packets of a
// segment into the events of package event; it knows no machine code,
// following it is for package flow.
//
// The formats follow the Embedded Trace Macrocell Architecture Specification,
// IHI0014Q; sections are named by their titles. Data packets follow OpenCSD,
// decoder/source/etmv3. Jazelle and ThumbEE code is told, not followed.
package etmv3
