// Package itm reads the trace of a Cortex-M Instrumentation Trace Macrocell. The bytes
// of a stream go in. Out come packets, what software wrote to stimulus ports, and what
// the Data Watchpoint and Trace unit (DWT) saw. It says nothing of what was executed.
//
// Plan finds where a stream can be entered. A Lexer splits bytes into Packets;
// Packet.Append is its exact inverse. A Decoder keeps what packets leave out (the page
// of ports, the sum of local timestamps, the upper bits of the global one) and gives
// the events of package event.
//
// The format follows the ARMv7-M Architecture Reference Manual (DDI0403),
// appendix D4 "Debug ITM and DWT Packet Protocol". What the payload of a DWT
// packet says is not taken apart: it is given as sent, with its discriminator.
//
// Start reading in packet.go and spec.go, the table of layouts; then lexer.go and
// decoder.go.
package itm
