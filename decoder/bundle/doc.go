// Package bundle makes bundles: one file that holds a recording, with the parts of all
// files that decoding it needs (docs/formats/bundle.md). decoder.Open reads one as it
// reads a recording, so that nothing here is needed for that.
//
// Make decodes the recording once, and keeps what was read of each file. Bundle.Write
// writes the result.
//
// Start reading in make.go. The form of the file itself is in decoder/internal/bundle.
package bundle
