// Package flow follows the flow of control: a Walker takes a protocol's events
// and the machine code as of every moment, and delivers what was executed.
//
// In: a Source of events (decoder/event), a Text, an isa.Decoder and isa.Rules.
// The Text answers bytes for an address and an epoch. The Decoder knows lengths
// and classes, and the Rules say what spends an outcome. Out: Batches of Ranges
// (a static Block as executed, with the Verdict on how its text was settled)
// and Notes (gaps, transfers, payloads), in order, to a Sink.
//
// It does not read packets, and does not know which thread or function runs: packages
// pt and coresight do the one, package decoder the other.
//
// The walker goes in two ways. The fast one (fast_conditional.go,
// fast_waypoints.go) follows successor pointers from block to block while the
// code is the same for every epoch that the clock allows. Where it has followed the same
// bytes of trace before, it knows them again and need not even read events (phrases.go). A
// sink that only counts need not be given the ranges either (tally.go). The careful one,
// the executor, goes one decision at a time. A cut is the place in the flow where a poke
// took effect. When the poke's moment lies inside what the clock allows, the executor
// follows every cut that the trace leaves open (search.go). The cuts are threads in step
// over one queue of events, until the packets have refuted all but one.
//
// Start reading in range.go, for what comes out and what goes in, and walker.go. Then come
// execute.go, which is one step of the careful way, with lead.go and judge.go, which it
// asks, and search.go. What is handed out when is in unconfirmed.go and doubt.go. The fast
// ways only do the same sooner, and are best read last.
//
// Where an instruction of each class leads, and what the trace says of that, is
// written once (lead.go), and all who follow a flow read it off the block.
//
// # What owns what
//
// A thread is one flow. Its cursor is its place in the events, its evidence what it
// knows of time and pokes. While a window is open, a trial judges it against the
// others. What threads share is the executor's, and each part knows only parts
// before it:
//
//   - queue: the events
//   - reader: code, out of text and Cache
//   - writer: the Batch, and the flow of threads that is not delivered yet
//   - lookout: which breakpoints lie ahead
//   - window: the threads, while several cuts are followed, and its bounds
//   - judge: whether the trace contradicts a block
//   - site: which code it is where a poke's moment is open
//   - traps: what a breakpoint proves, and whose it was
//   - hiddenWays: which ways a stretch without outcomes may have gone
//
// No protocol and no image format is known here: what the walker needs of
// them it declares (Source, Text, Sink).
//
// # The cut search
//
// While a poke's moment lies inside what the clock allows, each visit to its
// site splits the flow: the old code was executed, or the new. The ways on are
// threads over the same events:
//
//  1. Each thread goes on until it has used one more outcome or event; the one
//     that has used the fewest goes first, so all stay in step.
//  2. A thread that contradicts the trace dies. One whose code is not known
//     cannot be refuted: it loses its place until an event states an address.
//  3. A thread that has seen a poke has seen every poke that was complete
//     before it began (Text.Floor), so n visits give n+1 cuts, not 2^n ways.
//  4. Two threads become one when they have used the same events and stand at
//     the same address with the same stack and the same pokes. What they
//     executed since they parted, and did not share, is Ambiguous.
//  5. A flow that goes on behind a gap is split likewise: by how many outcomes may be
//     left there (parting.go).
//  6. When one is left its flow is delivered: Trace, by elimination.
package flow
