// Package sideband holds what a recording says besides its trace, a Record for
// each thing: changes to code, mappings, threads, losses. Their form in files is
// JSON Lines (docs/formats/events.md), which this package reads and writes.
//
// A Record is what a record says, and not what follows from it: package recording
// gathers that. Records of perf become such Records there, too.
//
// Start reading in record.go; lines.go reads and writes the lines.
package sideband
