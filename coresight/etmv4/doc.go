// Package etmv4 reads the instruction trace of ETMv4 (4.0 to 4.6) and ETE (1.0 to
// 1.3). The bytes of a stream go in; packets, and the events that they mean, come out:
//
//   - Plan and Points find where a stream can be entered, and cut it into segments
//     that decode on their own.
//   - A Lexer splits bytes into Packets, which keep their payload as sent.
//     Packet.Append is its exact inverse.
//   - A Decoder turns the packets of a segment into the events of package event. It
//     keeps what packets leave out, such as the last addresses. It resolves
//     speculation before an event leaves it.
//
// The package knows no machine code; package decoder/internal/flow follows events
// through it.
//
// Packets have a text form too, one a line (Packet.AppendText, Assemble), in which
// tests are written; docs/formats/etmv4-packets.md describes it.
//
// ETE follows the Arm Architecture Reference Manual, DDI0487, part D, chapter
// "The Embedded Trace Extension" (elements), chapter "ETE Protocol
// Descriptions" (packets) and appendix "Embedded Trace Extension: analyser"
// (pseudocode). Sections are named by their titles. What only ETMv4 has (exception
// return, conditional instructions, data synchronisation, the M profile) follows
// IHI0064 as far as OpenCSD 1.8.0 shows it.
//
// Not handled: streams of data trace are not read. Loads, stores and conditional
// instructions other than branches can be traced as P0 elements; that is not decoded
// to events.
//
// Start reading in packet.go and spec.go, the table of layouts, then lexer.go. A
// packet becomes elements in elements.go, which wait in speculation.go until they are
// committed, and become events in emitter.go; decoder.go holds the three together.
package etmv4
