// Package perfdata reads what perf record writes: a perf.data file, a perf.data
// directory (data, data.N, kcore_dir) or the pipe form. It hands out its
// records in time order and its AUX areas as streams of bytes.
//
// In: a path (Open) or a reader (OpenPipe). Out: the header and its features
// (Recording.Header), the attributes, records of every type (Recording.Records)
// and the hardware trace (Streams). AuxInfo says what the trace was configured
// to. Trouble and Hints say everything that was wrong with the file or is
// missing from it.
//
// Sources: tools/perf/Documentation/perf.data-file-format.txt,
// include/uapi/linux/perf_event.h, tools/lib/perf/include/perf/event.h,
// tools/perf/util/{header,session,evsel,auxtrace,intel-pt}.c of Linux v6.1 to
// v6.19; the record types that came later than v6.1 carry their tag.
//
// Not handled: big-endian files and version 1 of the format (both refused with
// what to do), what follows the formats in TRACING_DATA, the counters of perf
// stat but as words. Bytes handed out alias the mapped file: they are read-only
// and hold until Recording.Close. What records mean for code and threads is a matter
// of package recording.
//
// Start reading in reader.go and recording.go, then record.go. Damaged files are read by
// what is in mend.go and the files named after it.
package perfdata
