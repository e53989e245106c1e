// Package wire is what the folders of CoreSight's trace protocols have in
// common: a stream's bytes and the search for its sync points (Bytes, NextSync),
// Gray codes (Binary, Code), and the lines of the text forms (Lines, Assemble).
// Of ETMv3 and PTM, which are of one family, also the alignment packet
// (FindASync), timestamps (Stamp), the bytes that both write alike
// (AppendAddress, Squeeze), and the fields of packets as text (Field), which
// their tables of packets are made of.
//
// The alignment packet follows the Arm CoreSight Program Flow Trace
// Architecture Specification, IHI0035B, "A-sync, alignment synchronization
// packet", and the Embedded Trace Macrocell Architecture Specification,
// IHI0014Q, "A-sync, alignment synchronization", which are the same bytes.
package wire
