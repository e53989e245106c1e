// Package bundle makes bundles: one file that holds a recording, with the parts of all
// files that decoding it needs (docs/formats/bundle.md). decoder.Open reads one as it
// reads a recording.
package bundle
