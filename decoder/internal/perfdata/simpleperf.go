package perfdata

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/klauspost/compress/zstd"
)

// What Android's simpleperf writes besides perf's records and features
// (platform/system/extras: simpleperf/record.h, record_file_format.h,
// record_file_reader.cpp).

// The record types of simpleperf (enum user_record_type). Their headers hold the
// size in 32 bits: the upper half stands where others have misc.
const (
	TypeSimpleStart           Type = 32768
	TypeSimpleKernelSymbol    Type = 32769
	TypeSimpleDSO             Type = 32770
	TypeSimpleSymbol          Type = 32771
	TypeSimpleSplit           Type = 32772
	TypeSimpleSplitEnd        Type = 32773
	TypeSimpleEventID         Type = 32774
	TypeSimpleCallchain       Type = 32775
	TypeSimpleUnwindingResult Type = 32776
	TypeSimpleTracingData     Type = 32777
	TypeSimpleDebug           Type = 32778
)

// simpleNames are the names of simpleperf's types, from TypeSimpleKernelSymbol on.
var simpleNames = [...]string{"KERNEL_SYMBOL", "DSO", "SYMBOL", "SPLIT", "SPLIT_END", "EVENT_ID", "CALLCHAIN", "UNWINDING_RESULT", "SIMPLEPERF_TRACING_DATA", "DEBUG"}

// The features of simpleperf (PerfFileFormat, FEAT_*).
const (
	FeatureFile            Feature = 128
	FeatureMetaInfo        Feature = 129
	FeatureDebugUnwind     Feature = 130
	FeatureDebugUnwindFile Feature = 131
	FeatureFile2           Feature = 132
	FeatureETMBranchList   Feature = 133
	FeatureInitMap         Feature = 134
)

// simpleFeatures are the names of simpleperf's features, from FeatureFile on.
var simpleFeatures = [...]string{"FILE", "META_INFO", "DEBUG_UNWIND", "DEBUG_UNWIND_FILE", "FILE2", "ETM_BRANCH_LIST", "INIT_MAP"}

// Simpleperf is what only recordings by simpleperf say. The zero value is that of any
// other.
type Simpleperf struct {
	Meta       map[string]string // META_INFO
	Files      []SimpleFile      // FILE, FILE2
	Kallsyms   string            // KERNEL_SYMBOL: the text of /proc/kallsyms
	BranchList bool              // ETM_BRANCH_LIST: branches were counted in place of trace
}

// SimpleFile is a file that ran, with the symbols that were looked up while it was
// recorded.
type SimpleFile struct {
	Path     string
	Kind     uint32 // 0 kernel, 1 kernel module, 2 ELF file, 3 DEX file, 4 symbol map, 5 unknown
	MinVaddr uint64 // the lowest address of its code
	Off      uint64 // of MinVaddr in the file (of a module, in memory), bytes
	HasOff   bool
	Symbols  []SimpleSymbol
}

// SimpleSymbol is a symbol by the addresses of its file.
type SimpleSymbol struct {
	Vaddr uint64
	Len   uint32 // bytes
	Name  string
}

// Simpleperf returns what only simpleperf says.
func (r *Recording) Simpleperf() *Simpleperf { return &r.simple }

// simpleSize is the size of a record of simpleperf's: of header and body.
func simpleSize(h []byte) int {
	return int(binary.LittleEndian.Uint16(h[4:]))<<16 | int(binary.LittleEndian.Uint16(h[6:]))
}

// simpleRecord keeps what a record of simpleperf's says. Of SPLIT records, the one
// that they were made of is read, at SPLIT_END.
func (s *scanner) simpleRecord(t Type, body []byte) {
	const most = 1 << 28 // bytes of a record that was split
	switch t {
	case TypeSimpleKernelSymbol:
		c := cursor{b: body}
		n := c.u32()
		if text := c.take(c.count(uint64(n), 1)); text != nil {
			s.r.simple.Kallsyms = string(bytes.TrimRight(text, "\x00"))
		}
	case TypeSimpleSplit:
		if len(s.split)+len(body) <= most {
			s.split = append(s.split, body...)
		}
	case TypeSimpleSplitEnd:
		b := s.split
		s.split = nil
		if len(b) < headerSize {
			return
		}
		t := Type(binary.LittleEndian.Uint32(b))
		if t == TypeSimpleKernelSymbol && simpleSize(b) == len(b) {
			s.simpleRecord(t, b[headerSize:])
		}
	}
}

// simpleIDs reads EVENT_ID: u64 number, then pairs of an attribute's index and an id
// of its events.
func simpleIDs(r *Recording, body []byte) {
	c := cursor{b: body}
	for range c.count(c.u64(), 16) {
		attr, id := c.u64(), c.u64()
		if attr < uint64(len(r.attrs)) && r.idRoom > 0 && !slices.Contains(r.attrs[attr].IDs, id) {
			r.idRoom--
			r.attrs[attr].IDs = append(r.attrs[attr].IDs, id)
		}
	}
}

// simpleFeature reads a feature of simpleperf's. c falls short where it is not whole.
func simpleFeature(r *Recording, bit Feature, c *cursor) {
	m := &r.simple
	switch bit {
	case FeatureMetaInfo:
		m.Meta = map[string]string{}
		for c.left() > 0 && !c.short {
			k := c.zeroEnded()
			m.Meta[k] = c.zeroEnded()
		}
	case FeatureFile, FeatureFile2:
		read := (*cursor).simpleFile
		if bit == FeatureFile2 {
			read = (*cursor).simpleFile2
		}
		for c.left() > 0 && !c.short {
			one := cursor{b: c.take(c.count(uint64(c.u32()), 1))}
			if f := read(&one); !one.short && f.Path != "" {
				m.Files = append(m.Files, f)
			}
		}
	case FeatureETMBranchList:
		m.BranchList = c.left() > 0
	}
}

// zeroEnded reads a string and the zero behind it.
func (c *cursor) zeroEnded() string {
	i := bytes.IndexByte(c.b[c.off:], 0)
	if i < 0 {
		c.take(c.left() + 1)
		return ""
	}
	s := string(c.take(i))
	c.take(1)
	return s
}

// simpleFile reads a file of the feature FILE.
func (c *cursor) simpleFile() (f SimpleFile) {
	const dex, leastSymbol = 3, 13
	f.Path, f.Kind, f.MinVaddr = c.zeroEnded(), c.u32(), c.u64()
	for range c.count(uint64(c.u32()), leastSymbol) {
		f.Symbols = append(f.Symbols, SimpleSymbol{c.u64(), c.u32(), c.zeroEnded()})
	}
	if f.Kind == dex {
		c.words(uint64(c.u32()))
	}
	if c.left() >= 8 {
		f.Off, f.HasOff = c.u64(), true
	}
	return f
}

// simpleFile2 reads a file of the feature FILE2: a message of protocol buffers. It has
// path 1, type 2, min_vaddr 3 and symbols 4 (vaddr 1, len 2, name 3). In 6, or in 7 of a
// module, is the offset of min_vaddr, 1.
func (c *cursor) simpleFile2() (f SimpleFile) {
	c.message(func(field, n uint64, b []byte) {
		switch field {
		case 1:
			f.Path = string(b)
		case 2:
			f.Kind = uint32(n)
		case 3:
			f.MinVaddr = n
		case 4:
			var y SimpleSymbol
			(&cursor{b: b}).message(func(field, n uint64, b []byte) {
				switch field {
				case 1:
					y.Vaddr = n
				case 2:
					y.Len = uint32(n)
				case 3:
					y.Name = string(b)
				}
			})
			f.Symbols = append(f.Symbols, y)
		case 6, 7:
			f.HasOff = true
			(&cursor{b: b}).message(func(field, n uint64, _ []byte) {
				if field == 1 {
					f.Off = n
				}
			})
		}
	})
	return f
}

// message reads the fields of a message of protocol buffers: number, and value n or
// bytes b.
func (c *cursor) message(field func(number, n uint64, b []byte)) {
	for c.left() > 0 && !c.short {
		tag := c.varint()
		switch tag & 7 {
		case 0:
			n := c.varint()
			field(tag>>3, n, nil)
		case 1:
			field(tag>>3, c.u64(), nil)
		case 2:
			field(tag>>3, 0, c.take(c.count(c.varint(), 1)))
		case 5:
			field(tag>>3, uint64(c.u32()), nil)
		default:
			c.take(c.left() + 1)
		}
	}
}

// varint reads a number in groups of seven bits.
func (c *cursor) varint() (n uint64) {
	for i := 0; i < 64; i += 7 {
		b := c.u8()
		if n |= uint64(b&0x7f) << i; b < 0x80 {
			return n
		}
	}
	return n
}

// zstdMagic begins a zstd frame (RFC 8878, section 3.1.1).
const zstdMagic = "\x28\xb5\x2f\xfd"

// simpleAux returns a piece of an AUX area, and whether it was packed: simpleperf packs
// each for itself where it packs the records.
func simpleAux(r *Recording, data []byte) ([]byte, bool) {
	if r.simple.Meta == nil || !bytes.HasPrefix(data, []byte(zstdMagic)) {
		return data, false
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(uint64(inflateFree+len(data)*inflateFactor)))
	if err != nil {
		return data, false
	}
	defer dec.Close()
	out, err := dec.DecodeAll(data, nil)
	if len(out) == 0 && err != nil {
		return data, false
	}
	return out, true
}
