package perfdata

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
)

// What of a recording names programs, hosts, paths and command lines, and where it
// stands. Each name is replaced where it stands by one of its length.

// replace replaces the string at the front of b, up to a zero.
func (w *rewriter) replace(b []byte, by func(string) string) {
	if n := bytes.IndexByte(b, 0); n >= 0 {
		b = b[:n]
	}
	copy(b, by(string(b)))
}

// anonymise replaces the names in a record: b is the whole of it, with a body of n bytes
// behind the header.
func (w *rewriter) anonymise(t Type, b []byte, n int) {
	body := b[headerSize : headerSize+n]
	from := func(off int, by func(string) string) {
		if off < len(body) {
			w.replace(body[off:], by)
		}
	}
	switch t {
	case TypeComm:
		from(8, w.e.Name)
	case TypeMmap:
		from(32, w.e.Path)
	case TypeMmap2:
		from(64, w.e.Path)
	case TypeCgroup:
		from(8, w.e.Path)
	case TypeHeaderBuildID:
		from(28, w.e.Path)
	case TypeKsymbol:
		from(16, w.bpfName)
	case TypeThreadMap:
		const entry, name = 24, 16
		for at := 8; at+entry <= len(body); at += entry {
			w.replace(body[at+8:at+8+name], w.e.Name)
		}
	case TypeAuxtraceInfo:
		w.filters(body)
	case TypeHeaderFeature:
		if len(body) >= 8 {
			w.feature(Feature(min(binary.LittleEndian.Uint64(body), 255)), body[8:])
		}
	case TypeHeaderTracingData:
		if formatsOnly(b[headerSize+n:]); len(body) > 8 { // simpleperf's
			clear(body)
		}
	case TypeSimpleTracingData:
		clear(body)
	}
}

// bpfName replaces what a KSYMBOL record's name has behind the tag of a BPF program
// (kernel/bpf/core.c, bpf_prog_ksym_set_name, v6.12).
func (w *rewriter) bpfName(s string) string {
	const tagged = len("bpf_prog_") + 16 + len("_")
	if !strings.HasPrefix(s, "bpf_prog_") || len(s) <= tagged {
		return s
	}
	return s[:tagged] + w.e.Name(s[tagged:])
}

// filters replaces the paths in address filters: what stands behind an @.
func (w *rewriter) filters(b []byte) {
	for {
		i := bytes.Index(b, []byte("@/"))
		if i < 0 {
			return
		}
		b = b[i+1:]
		n := bytes.IndexAny(b, " ,\t\n\x00")
		if n < 0 {
			n = len(b)
		}
		copy(b, w.e.Path(string(b[:n])))
		b = b[n:]
	}
}

// formatsOnly clears what follows the formats in TRACING_DATA: names of programs, and
// what the kernel prints.
func formatsOnly(b []byte) {
	c := cursor{b: b}
	if err := tracingFormats(&c, map[uint64]*Format{}); err != nil {
		clear(b)
	} else {
		clear(b[c.off:])
	}
}

// feature replaces the names in a feature.
func (w *rewriter) feature(bit Feature, b []byte) {
	c := &cursor{b: b}
	switch bit {
	case FeatureTracingData:
		formatsOnly(b)
	case FeatureBuildID:
		for at := int64(0); ; {
			f, _, ok := frameAt(b, at, int64(len(b)))
			if !ok {
				return
			}
			w.anonymise(TypeHeaderBuildID, b[at:at+int64(f.size)], f.size-headerSize)
			at += int64(f.size)
		}
	case FeatureHostname:
		w.replaceString(c, w.e.Name)
	case FeatureCmdline:
		for n := c.u32(); n > 0 && !c.short; n-- {
			w.replaceString(c, w.e.Name)
		}
	case FeatureBPFProgInfo:
		for n := c.u32(); n > 0 && !c.short; n-- {
			infoLen, dataLen, _ := c.u32(), c.u32(), c.u64()
			if info := c.take(c.count(uint64(infoLen), 1)); len(info) >= bpfInfoName+bpfInfoNameLen {
				w.replace(info[bpfInfoName:bpfInfoName+bpfInfoNameLen], w.e.Name)
			}
			c.take(c.count(uint64(dataLen), 1))
		}
	case FeatureBPFBTF:
		for n := c.u32(); n > 0 && !c.short; n-- {
			c.u32()
			clear(c.take(c.count(uint64(c.u32()), 1)))
		}
	default:
		w.deviceFeature(bit, b)
	}
}

// replaceString replaces a string of a feature: u32 length, and so many bytes.
func (w *rewriter) replaceString(c *cursor, by func(string) string) {
	w.replace(c.take(c.count(uint64(c.u32()), 1)), by)
}

// plainMeta are the keys of META_INFO that name neither a device nor a program.
var plainMeta = []string{"simpleperf_version", "clockid", "system_wide_collection", "trace_offcpu", "timestamp", "kernel_version",
	"android_sdk_version", "kernel_symbols_available", "event_type_info"}

// deviceFeature replaces the names in a feature of simpleperf's.
func (w *rewriter) deviceFeature(bit Feature, b []byte) {
	c := &cursor{b: b}
	switch bit {
	case FeatureMetaInfo:
		for c.left() > 0 && !c.short {
			key := c.zeroEnded()
			at := c.off
			if c.zeroEnded(); !c.short && !slices.Contains(plainMeta, key) {
				w.replace(b[at:c.off], w.e.Name)
			}
		}
	case FeatureFile:
		for c.left() > 0 && !c.short {
			w.replace(c.take(c.count(uint64(c.u32()), 1)), w.e.Path)
		}
	case FeatureFile2:
		for c.left() > 0 && !c.short {
			one := cursor{b: c.take(c.count(uint64(c.u32()), 1))}
			one.message(func(field, _ uint64, b []byte) {
				if field == 1 {
					w.replace(b, w.e.Path)
				}
			})
		}
	case FeatureInitMap:
		for at := int64(0); ; {
			f, _, ok := frameAt(b, at, int64(len(b)))
			if !ok {
				return
			}
			w.anonymise(f.typ, b[at:at+f.span], f.size-headerSize)
			at += f.span
		}
	case FeatureDebugUnwind, FeatureDebugUnwindFile, FeatureETMBranchList:
		clear(b)
	}
}
