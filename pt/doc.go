// Package pt reads Intel Processor Trace. The bytes of a stream go in; packets, and the
// events that they mean, come out. The work is done in three steps, each of use alone:
//
//   - FindSync, Plan and Points find where a stream can be entered, and cut it into
//     segments that decode on their own.
//   - A Lexer splits bytes into Packets, which keep their payload as sent.
//     Packet.Append is its exact inverse.
//   - A Decoder turns the packets of a segment into the events of package event. It
//     keeps what packets leave out, such as the last IP and the clock.
//
// The package knows no machine code. Package decoder/internal/flow follows events
// through the code, and package decoder does all of it for a whole recording.
//
// Packets have a text form too, one a line (Packet.AppendText, Assemble), in which tests
// are written; docs/formats/intel-pt-packets.md describes it.
//
// The formats follow the Intel 64 and IA-32 Architectures Software Developer's
// Manual, volume 3C, chapter "Intel Processor Trace". Sections and tables are named
// by their titles, since the chapter's number has changed. Blocks (BBP, BIP, BEP),
// event trace (CFE, EVD) and TRIG follow Linux's tools/perf and libipt. Packets of
// unknown kinds are not skipped: what follows them is bad up to the next PSB.
//
// Start reading in packet.go, which has the packets, and spec.go, the table of their
// layouts. Then come lexer.go, which splits, and decoder.go and packets.go, which say what
// each packet means. Several packets may be one event together: compound.go. How IPs are
// compressed is in psb.go, how time is told in clock.go and moments.go. Files named fast_*,
// *_fill.go and ahead_bytes.go do the same work faster, for what comes most often.
package pt
