// Package sideband holds what a recording says besides its trace, a Record for
// each thing: changes to code, mappings, threads, losses. Their form in files is
// JSON Lines (docs/formats/events.md).
package sideband
