// Package wire is what the folders of CoreSight's trace protocols have in common where
// bytes are read and written. It knows no packets: those are the protocols' own.
//
// For all of them it has:
//
//   - a place in a stream (Cursor), and the search for sync points (NextSync)
//   - how a stream that is not cut is planned (PlanUncut)
//   - how a Decoder hands out events (Fill, Course)
//   - Gray codes (Binary, Code)
//
// ETMv3 and PTM are of one family, and share more: the alignment packet (FindASync),
// timestamps (Stamp), and the bytes that both write alike (AppendAddress, Squeeze).
//
// The alignment packet follows the Arm CoreSight Program Flow Trace Architecture
// Specification, IHI0035B, "A-sync, alignment synchronization packet". In the
// Embedded Trace Macrocell Architecture Specification, IHI0014Q, "A-sync, alignment
// synchronization" is the same bytes.
//
// Start reading in scan.go.
package wire
