// Package pt reads Intel Processor Trace: the bytes of a stream go in, packets
// and what they mean come out.
//
// FindSync finds the places where a stream can be entered. A Lexer splits
// bytes into Packets, which keep their payload as sent; Append is its
// exact inverse. A Decoder turns the packets of a segment into the events of
// package event: it holds what packets leave out, as the last IP and the
// clock. It knows no machine code; following it is for package flow.
//
// Packets have a text form too, one a line (AppendText, Assemble),
// in which tests are written; docs/formats/intel-pt-packets.md describes it.
//
// The formats follow the Intel 64 and IA-32 Architectures Software Developer's
// Manual, volume 3C, chapter "Intel Processor Trace". Sections and tables are named
// by their titles, since the chapter's number has changed. Blocks (BBP, BIP, BEP),
// event trace (CFE, EVD) and TRIG follow Linux's tools/perf and libipt. Packets of
// unknown kinds are not skipped: what follows them is bad up to the next PSB.
package pt
