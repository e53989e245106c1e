package decoder

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// perfWriter makes a perf.data file (tools/perf/Documentation/perf.data-file-format.txt
// and include/uapi/linux/perf_event.h, v6.12). It shares no code with the reader.
type perfWriter struct {
	attrs   [][]byte // perf_event_attr, each of 136 bytes
	ids     [][]uint64
	records []byte
	tracing []byte // TRACING_DATA; empty: none
}

// bin joins fields in their own widths, little-endian.
func bin(list ...any) []byte {
	var b []byte
	for _, f := range list {
		if s, ok := f.(string); ok {
			b = append(b, s...)
			continue
		}
		var err error
		if b, err = binary.Append(b, binary.LittleEndian, f); err != nil {
			panic(err)
		}
	}
	return b
}

// event adds an event. Its samples hold IP, TID, TIME, CPU and IDENTIFIER, besides
// what sample says.
func (w *perfWriter) event(typ uint32, config, sample, id uint64) {
	const usual, idAll = 1 | 1<<1 | 1<<2 | 1<<7 | 1<<16, 1 << 18
	a := bin(typ, uint32(136), config, uint64(1), usual|sample, uint64(0), uint64(idAll))
	w.attrs, w.ids = append(w.attrs, append(a, make([]byte, 136-len(a))...)), append(w.ids, []uint64{id})
}

// breakpoint adds an event of a breakpoint whose samples hold registers.
func (w *perfWriter) breakpoint(addr, regs, id uint64) {
	w.event(5, 0, 1<<18, id)
	a := w.attrs[len(w.attrs)-1]
	copy(a[52:], bin(uint32(4), addr, uint64(4)))
	copy(a[96:], bin(regs))
}

// record adds a record.
func (w *perfWriter) record(typ uint32, body ...any) {
	b := bin(body...)
	b = append(b, make([]byte, -len(b)&7)...)
	w.records = bin(w.records, typ, uint16(1), uint16(8+len(b)), b)
}

// who is what a record that is no sample says of its maker.
func (w *perfWriter) who(tid int32, time uint64, cpu uint32, id uint64) []byte {
	return bin(tid, tid, time, cpu, uint32(0), id)
}

// bytes makes the file.
func (w *perfWriter) bytes() []byte {
	const head, entry = 104, 136 + 16
	var ids, attrs []byte
	for i, a := range w.attrs {
		attrs = bin(attrs, a, uint64(head+len(ids)), uint64(8*len(w.ids[i])))
		ids = bin(ids, w.ids[i])
	}
	data := uint64(head + len(ids) + len(attrs))
	features := uint64(0)
	if len(w.tracing) > 0 {
		features |= 1 << 1
	}
	b := bin("PERFILE2", uint64(head), uint64(entry), uint64(head+len(ids)), uint64(len(attrs)), data, uint64(len(w.records)),
		uint64(0), uint64(0), features, make([]byte, 24), ids, attrs, w.records)
	if features != 0 {
		b = bin(b, uint64(len(b)+16), uint64(len(w.tracing)), w.tracing)
	}
	return b
}

// pipe makes what perf writes into a pipe: events are records there.
func (w *perfWriter) pipe() []byte {
	b := bin("PERFILE2", uint64(16))
	for i, a := range w.attrs {
		b = bin(b, uint32(64), uint16(0), uint16(8+len(a)+8*len(w.ids[i])), a, w.ids[i])
	}
	return bin(b, w.records)
}

// take takes the events and the records of a file but those of a type.
func (w *perfWriter) take(t *testing.T, file string, but uint32) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	at := func(off uint64) uint64 { return binary.LittleEndian.Uint64(b[off:]) }
	for off := at(24); off < at(24)+at(32); off += at(16) {
		a := make([]byte, 136)
		copy(a, b[off:off+at(16)-16])
		from, n := at(off+at(16)-16), at(off+at(16)-8)
		ids := make([]uint64, n/8)
		for i := range ids {
			ids[i] = at(from + 8*uint64(i))
		}
		w.attrs, w.ids = append(w.attrs, a), append(w.ids, ids)
	}
	for off := at(40); off < at(40)+at(48); {
		n := uint64(binary.LittleEndian.Uint16(b[off+6:]))
		if binary.LittleEndian.Uint32(b[off:]) != but {
			w.records = append(w.records, b[off:off+n]...)
		}
		off += n
	}
}

// probeLine is a line of perf script, of a sample of a probe.
var probeLine = regexp.MustCompile(`^\[(\d+)\] +(\d+)\.(\d{9}): +txt:(\w+): \(([0-9a-f]+)(?: <- ([0-9a-f]+))?\)(.*)$`)

// script takes the samples of probes that perf script printed. Their formats are those
// that the kernel makes of such arguments, but for a hole, so that no field lies where
// its number says.
func (w *perfWriter) script(t *testing.T, text []byte) (counts map[string]int) {
	t.Helper()
	counts = map[string]int{}
	formats := []string{}
	id := map[string]uint64{}
	for line := range strings.Lines(string(text)) {
		m := probeLine.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			t.Fatalf("line %q", line)
		}
		cpu, _ := strconv.ParseUint(m[1], 10, 32)
		time, _ := strconv.ParseUint(m[2]+m[3], 10, 64)
		ip, _ := strconv.ParseUint(m[5], 16, 64)
		raw := bin(uint16(0), uint16(0), int32(200+cpu))
		fields := "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
		add := func(name, typ string, v any) {
			size := binary.Size(v)
			fields += fmt.Sprintf("\tfield:%s %s;\toffset:%d;\tsize:%d;\tsigned:%d;\n", typ, name, len(raw), size, map[bool]int{true: 1}[typ == "s32"])
			raw = bin(raw, v)
		}
		if m[6] == "" {
			add("__probe_ip", "unsigned long", ip)
		} else {
			ret, _ := strconv.ParseUint(m[6], 16, 64)
			add("__probe_func", "unsigned long", ip)
			add("__probe_ret_ip", "unsigned long", ret)
		}
		raw = append(raw, 0xee) // the hole
		for arg := range strings.FieldsSeq(m[7]) {
			name, value, _ := strings.Cut(arg, "=")
			if hex, ok := strings.CutPrefix(value, "0x"); ok {
				v, _ := strconv.ParseUint(hex, 16, 64)
				add(name, "u64", v)
			} else {
				v, _ := strconv.ParseInt(value, 10, 32)
				add(name, "s32", int32(v))
			}
		}
		counts[m[4]]++
		if id[m[4]] == 0 {
			id[m[4]] = uint64(1000 + len(id))
			formats = append(formats, fmt.Sprintf("name: %s\nID: %d\nformat:\n%s\nprint fmt: \"\"\n", m[4], id[m[4]], fields))
			w.event(2, id[m[4]], 1<<10, id[m[4]])
		}
		tid := int32(200 + cpu)
		w.record(9, id[m[4]], ip, tid, tid, time, uint32(cpu), uint32(0), uint32(len(raw)), raw)
	}
	w.tracing = bin("\x17\x08\x44tracing0.6\x00", uint8(0), uint8(8), uint32(4096), "header_page\x00", uint64(1), "x", "header_event\x00", uint64(0),
		uint32(0), uint32(1), "txt\x00", uint32(len(formats)))
	for _, f := range formats {
		w.tracing = bin(w.tracing, uint64(len(f)), f)
	}
	return counts
}

// write makes the file of a test.
func (w *perfWriter) write(t *testing.T) string {
	t.Helper()
	return folder(t)("perf.data", string(w.bytes()))
}

// folder returns what writes files into a new folder that lasts as long as the test. It
// makes the folders that they lie in, and returns their paths.
func folder(t testing.TB) (write func(name, data string) (path string)) {
	dir := t.TempDir()
	return func(name, data string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
}
