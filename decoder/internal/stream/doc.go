// Package stream holds the streams of trace sources. A Stream has its bytes, its Protocol,
// the segments that it decodes in, and its losses. The protocols are a table with a row for
// each, and so are the instruction sets: whoever decodes asks the row, and never which
// protocol it is.
//
// It reads no packets itself: the lexers and decoders are in pt and coresight. Where the
// bytes and the losses come from is a matter of package recording.
//
// Start reading in protocol.go, for what a row says, and protocols.go, which has the rows.
// Segments are found in segments.go. pages.go has how records bound their times.
package stream
