// Package recorder is ptdecode record. It looks at a machine, says what a recording of
// its kernel's changes needs, and has perf record with that. Behind the recording it
// copies the kernel's code and symbols once more, and opens the result as the decoder
// does.
//
// perf stays the recorder: nothing here reads a trace buffer. All that is written lies
// in the recording's directory, as perf record --kcore makes it, with one folder more:
//
//	DIR/data          the records and the trace, by perf
//	DIR/kcore_dir/    kcore, kallsyms and modules of before, by perf
//	DIR/kcore_late/   kcore, kallsyms and modules of after
//
// What perf's options mean: tools/perf/Documentation/perf-record.txt and
// tools/perf/builtin-record.c of Linux v6.1 to v6.19. What the kernel's files say:
// Documentation/admin-guide/sysctl/kernel.rst, Documentation/ABI/testing, v6.12.
package recorder
