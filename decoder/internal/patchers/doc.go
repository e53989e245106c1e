// Package patchers makes pokes of samples that were taken where a kernel changes its code.
// A kernel that writes no TEXT_POKE records, as those of Arm, is watched so instead. The
// samples are of hardware breakpoints on the functions that change code, or of probe events
// of functions beside them.
//
// In go the samples of a perf.data, in order. Out come records of pokes, as package sideband
// has them, each with the time bounds that the samples leave.
// docs/formats/kernel-samples.md says what each sample means.
//
// Start reading in table.go, for which functions are known, and patches.go.
package patchers
