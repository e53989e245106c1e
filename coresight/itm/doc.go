// Package itm reads the trace of a Cortex-M Instrumentation Trace Macrocell. The
// bytes of a stream go in, packets, what software wrote to stimulus ports and what
// the Data Watchpoint and Trace unit (DWT) saw come out.
//
// findSync finds where a stream can be entered. A Lexer splits bytes into Packets;
// Append is its exact inverse. A Decoder holds what packets leave out (the page of
// ports, the sum of local timestamps, the upper bits of the global one) and gives
// the events of package event. There is no flow to follow.
//
// The format follows the ARMv7-M Architecture Reference Manual (DDI0403),
// appendix D4 "Debug ITM and DWT Packet Protocol". What the payload of a DWT
// packet says is not taken apart: it is given as sent, with its discriminator.
package itm
