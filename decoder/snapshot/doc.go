// Package snapshot reads Arm trace and debug snapshots: directories of ini
// files that describe cores, trace sources and trace buffers, with the buffers
// and dumps of memory beside them.
//
// Open reads the descriptions, not the data: Snapshot.ReadBuffer and
// Snapshot.OpenDump do. Whatever is wrong but can be left out becomes a
// Problem, which names file and line and says what to do; an error means that
// there is no snapshot at all.
//
// The format follows the "ARM Trace and Debug Snapshot file format"
// specification (ARM-ECM-0611873, versions 0.1 and 0.2). Where it leaves
// things open, what writers of snapshots do decides: see
// docs/formats/coresight-snapshot.md.
package snapshot
