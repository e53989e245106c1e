// Package jit reads what programs write of the code that they make. A jitdump file holds
// names, code and lines in time, a perf-PID.map file names only. The sources are
// tools/perf/Documentation/jitdump-specification.txt and jit-interface.txt, Linux v6.12.
//
// A jitdump in either byte order is read. Records of unknown types are passed over, and
// so is unwinding information. A file that is cut short, as that of a program which was
// killed or still ran, gives what is whole, and says up to what time it is.
package jit
