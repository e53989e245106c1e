// Package flow follows the flow of control: a Walker takes a protocol's events
// and the machine code as of every moment, and delivers what was executed.
//
// In: a Source of events (decoder/event), a Text that answers bytes for an
// address and an epoch, an isa.Decoder that knows lengths and classes, and
// isa.Rules that say what spends an outcome. Out: Batches of Ranges (a static
// Block as executed, with the Verdict on how its text was settled) and Notes
// (gaps, transfers, payloads), in order, to a Sink.
//
// The walker has two gaits. The fast one (fast_conditional.go, fast_waypoints.go)
// follows successor pointers
// from block to block while the text is the same for every epoch that the
// clock allows. The careful one (execute.go) goes one decision at a time; when a
// poke's moment lies inside what the clock allows it follows every cut that
// the trace leaves open (search.go), as threads in step over one queue of
// events, until the packets have refuted all but one.
//
// No protocol and no image format is known here: what the walker needs of
// them it declares (Source, Text, Sink).
//
// # The cut search
//
// While a poke's moment lies inside what the clock allows, each visit to its
// site splits the flow: the old text was executed, or the new. The ways on are
// threads over the same events:
//
//  1. Each thread goes on until it has used one more outcome or event; the one
//     that has used the fewest goes first, so all stay in step.
//  2. A thread that contradicts the trace dies. One whose text is not known
//     cannot be refuted: it loses its place until an event states an address.
//  3. A thread that has seen a poke has seen every poke that was complete
//     before it began (Text.Floor), so n visits give n+1 cuts, not 2^n ways.
//  4. Two threads that have used the same events and stand at the same
//     address with the same stack and the same pokes are one from there on:
//     what they executed since they parted, and did not share, is Ambiguous.
//  5. When one is left its flow is delivered: Trace, by elimination.
package flow
