// Package symbols names addresses: by copies of /proc/kallsyms and /proc/modules
// (Linux v6.1), and by the KSYMBOL records of a recording, for as long as each
// symbol lived (include/uapi/linux/perf_event.h).
package symbols
