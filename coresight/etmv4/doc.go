// Package etmv4 reads the instruction trace of ETMv4 (4.0 to 4.6) and ETE
// (1.0 to 1.3): the bytes of a stream go in, packets and what they mean come
// out.
//
// Plan and Points find where a stream can be entered. A Lexer splits bytes
// into Packets, which keep their payload as sent; Append is its exact inverse. A
// Decoder turns the packets of a segment into the events of package event. It holds
// what packets leave out, as the last addresses, and resolves speculation before an
// event leaves. It knows no machine code; following it is for package flow.
//
// Packets have a text form too, one a line (AppendText, Assemble),
// in which tests are written; docs/formats/etmv4-packets.md describes it.
//
// ETE follows the Arm Architecture Reference Manual, DDI0487, part D, chapter
// "The Embedded Trace Extension" (elements), chapter "ETE Protocol
// Descriptions" (packets) and appendix "Embedded Trace Extension: analyser"
// (pseudocode). What only ETMv4 has
// (exception return, conditional instructions, data synchronisation, the
// M profile) follows IHI0064 as far as OpenCSD 1.8.0 shows it. Data trace
// streams are not read, and tracing of loads, stores and conditional
// instructions other than branches is not decoded to events.
package etmv4
