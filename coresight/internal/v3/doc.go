// Package v3 is what the decoders of ETMv3 and PTM have in common. That is the
// instruction set that addresses are of (Set), the events of a flow (Flow) and
// their times (Clock), how a stream is cut (Plan), reasons and exception numbers.
// Both protocols are of trace units that the same registers set up,
// coresight.Config.V3: IHI0014Q, the Embedded Trace Macrocell Architecture
// Specification, and IHI0035B, that of Program Flow Trace.
package v3
