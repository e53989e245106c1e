// Package decoder rebuilds what each CPU executed from a recording: it opens
// the recording, chooses the protocol and the instruction set, plans segments,
// runs the workers and merges what they deliver in time order.
//
// It is floor 3 of the house (docs/architecture.md): it assembles pt, kcore,
// decoder/perfdata, decoder/isa and decoder/flow, which do not know each other,
// and is itself known to cmd/ptdecode alone.
package decoder
