package main

// csData makes a perf.data file with one event, cs_etm's, and records, of a
// machine of the architecture arch. It has the features that perf itself needs to
// read it: ARCH, and the index of AUXTRACE records (tools/perf/util/header.h,
// HEADER_ARCH and HEADER_AUXTRACE, v6.1).
func csData(records []byte, arch string) []byte {
	const (
		head, entry             = 104, 128 + 16
		data                    = head + 8 + entry
		auxtrace                = 71
		featArch, featAuxtrace  = 6, 18
		features                = 1<<featArch | 1<<featAuxtrace
		archLen, section, nSect = 64, 16, 2
	)
	var index []byte
	entries := uint64(0)
	for off := 0; off < len(records); {
		size := int(le.Uint16(records[off+6:]))
		if le.Uint32(records[off:]) == auxtrace {
			index = fields(index, uint64(data+off), uint64(size))
			entries++
			size += int(le.Uint64(records[off+8:]))
		}
		off += size
	}
	index = fields(entries, index)
	name := append([]byte(arch), make([]byte, archLen-len(arch))...)
	at := uint64(data + len(records) + nSect*section)
	attr := (&perfFile{}).attr(8, 0, 0, 1)
	attr[24] |= 1 // PERF_SAMPLE_IP, without which perf script prints none
	return fields([]byte("PERFILE2"), uint64(head), uint64(entry), uint64(head+8), uint64(entry), uint64(data), uint64(len(records)),
		uint64(0), uint64(0), uint64(features), make([]byte, 24), uint64(1), attr, uint64(head), uint64(8), records,
		at, uint64(4+archLen), at+4+archLen, uint64(len(index)), uint32(archLen), name, index)
}
