// Package patchers makes pokes of samples that were taken where a kernel changes its code. They
// are of hardware breakpoints on the functions that do it, or of probe events of functions
// beside them. docs/formats/kernel-samples.md says what each sample means.
package patchers
