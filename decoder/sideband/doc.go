// Package sideband holds what a recording says besides its trace: the pokes,
// mappings, threads and losses that its records tell of, one Record each, and
// their form as JSON Lines (docs/formats/events.md).
package sideband
