// Package flow follows the flow of control: a Walker takes a protocol's events
// and the machine code as of every moment, and delivers what was executed.
//
// In: a Source of events (decoder/event), a Text that answers bytes for an
// address and an epoch, an isa.Decoder that knows lengths and classes, and
// isa.Rules that say what spends an outcome. Out: Batches of Ranges (a static
// Block as executed, with the Verdict on how its text was settled) and Notes
// (gaps, transfers, payloads), in order, to a Sink.
//
// The walker has two gaits. The fast one (fast.go) follows successor pointers
// from block to block while the text is the same for every epoch that the
// clock allows. The careful one (step.go) goes one decision at a time; when a
// poke's moment lies inside what the clock allows it follows every cut that
// the trace leaves open (search.go), as threads in step over one queue of
// events, until the packets have refuted all but one.
//
// No protocol and no image format is known here: what the walker needs of
// them it declares (Source, Text, Sink).
package flow
