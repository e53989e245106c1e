// Package wire is what the packets of CoreSight's older trace protocols have
// in common: the alignment packet by which a stream is entered (FindASync),
// and the fields of packets as text (Field), which each protocol's table of
// packets is made of.
//
// The alignment packet follows the Arm CoreSight Program Flow Trace
// Architecture Specification, IHI0035B, "A-sync, alignment synchronization packet", and the Embedded
// Trace Macrocell Architecture Specification, IHI0014Q, "A-sync, alignment
// synchronization", which are the same bytes.
package wire
