// Package recording reads what was recorded, wherever it lies: perf.data, a snapshot of
// trace buffers and memory, raw trace, or an event stream. All of them become one
// plain value, a Recording: streams, changes to code, processes, symbols that came and
// went, and Warnings on what is missing.
//
// It decodes no trace, and opens no image but the memory that a recording itself holds.
// Package decoder makes a session of a Recording. The bytes of perf.data are read by
// package perfdata, those of snapshots by package snapshot.
//
// Start reading in recording.go, for what a Recording holds, and read.go, which fills one.
// The records of perf are in perfrecords.go, the buffers of CoreSight in coresight.go, and
// snapshots in snapshot.go. facts.go has what is gathered on the way.
package recording
