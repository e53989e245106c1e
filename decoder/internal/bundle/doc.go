// Package bundle is the form of a bundle: one file that holds a recording, and of the
// files that decoding it needs the parts that it needs (docs/formats/bundle.md).
//
// A Watch is a view of files that keeps in mind what is read of them. What it saw becomes
// a Tree, which Tree.Write writes and Read reads again. A Tree is an fs.FS in which
// files have the names that they had before, so whoever reads a recording reads a bundle
// by the same steps. What a bundle lacks of a file is unknown there, never zeros.
//
// The archive is as POSIX pax has it (the specification IEEE Std 1003.1, "pax Interchange Format"), packed
// by zstd (RFC 8878, "Zstandard Compression").
//
// A bundle may come from anyone. Its members are held in memory, no more of them than
// Read is told, and no name in it leads to a file of this machine.
package bundle
