// Package stm reads the trace of a CoreSight System Trace Macrocell. The bytes of a
// stream go in; packets, and the messages that software wrote, come out. The
// protocol is MIPI's System Trace Protocol, version 2 (STPv2), as far as an STM
// sends it (STM 1.0 and 1.1, STM-500). It says nothing of what was executed.
//
// STPv2 is made of half bytes: a packet may start in the middle of a byte and
// end in one. The lower half of a byte comes first, and of a number the most
// significant half byte.
//
// Plan finds where a stream can be entered. A Lexer splits bytes into Packets;
// Packet.Append is its exact inverse. A Decoder keeps what packets leave out (master,
// channel, the upper bits of the timestamp) and gives the events of package event.
//
// The packets are those of the CoreSight STM Technical Reference Manual
// (DDI0444), section "Trace packets"; codes and lengths follow OpenCSD
// 1.8.0, decoder/source/stm, since MIPI's own text is not public. Packets that
// the manual says an STM never sends (M16, USER, TIME, XSYNC, FREQ_TS) are bad.
//
// Start reading in packet.go and spec.go, the table of layouts; then lexer.go and
// decoder.go.
package stm
