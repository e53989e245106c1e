// Package v3 is what the decoders of ETMv3 and PTM have in common. That is the instruction
// set that addresses are of (Set), the events of a flow (Flow) and their times (Clock). It
// is also how a stream is cut (Plan), the reasons of I-syncs, and exception numbers.
//
// It reads no bytes: packages etmv3 and ptm do, and wire has what bytes they share.
//
// The same registers set up the trace units of both protocols: coresight.Config.V3. The
// sources are IHI0014Q, the Embedded Trace Macrocell Architecture Specification, and
// IHI0035B, that of Program Flow Trace.
//
// Start reading in flow.go.
package v3
