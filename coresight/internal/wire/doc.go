// Package wire is what the folders of CoreSight's trace protocols have in common:
// the search for sync points in a stream (NextSync), and Gray codes (Binary, Code).
// Of ETMv3 and PTM, which are of one family, also the alignment packet (FindASync),
// timestamps (Stamp), and the bytes that both write alike (AppendAddress, Squeeze).
//
// The alignment packet follows the Arm CoreSight Program Flow Trace Architecture
// Specification, IHI0035B, "A-sync, alignment synchronization packet". In the
// Embedded Trace Macrocell Architecture Specification, IHI0014Q, "A-sync, alignment
// synchronization" is the same bytes.
package wire
