package perfdata

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"
)

// tracingData makes TRACING_DATA of the texts of a system's formats.
func tracingData(system string, texts ...string) []byte {
	long := func(s string) []byte { return enc(uint64(len(s)), s) }
	b := enc(tracingMagic, "0.6\x00", uint8(0), uint8(8), uint32(4096), "header_page\x00", long("\tfield: u64 timestamp;\n"), "header_event\x00", long("# compressed entry header\n"))
	b = enc(b, uint32(1), long("name: function\nID: 1\nformat:\n\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n"))
	b = enc(b, uint32(1), system+"\x00", uint32(len(texts)))
	for _, s := range texts {
		b = enc(b, long(s))
	}
	return enc(b, uint32(0), uint32(0), uint64(0))
}

// jumpFormat is a probe's format as the kernel writes it, with fields of its own out
// of order.
const jumpFormat = `name: jl
ID: 1543
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
	field:unsigned char common_preempt_count;	offset:3;	size:1;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:unsigned long __probe_ip;	offset:8;	size:8;	signed:0;
	field:s32 code;	offset:24;	size:4;	signed:1;
	field:u64 entry;	offset:16;	size:8;	signed:0;
	field:u8 words[2];	offset:28;	size:2;	signed:0;
	field:__data_loc char[] name;	offset:30;	size:4;	signed:1;

print fmt: "(%lx) code=%d; x:y", REC->__probe_ip, REC->code
`

// TestTracing would catch fields read at other places than the format says, and
// formats taken for those of other events.
func TestTracing(t *testing.T) {
	formats, err := parseTracing(tracingData("ptdecode", jumpFormat, "name: none\nformat:\n", "name: z\nID: 7\nformat:\n"))
	if err != nil || len(formats) != 3 {
		t.Fatalf("%d formats, %v", len(formats), err)
	}
	f := formats[1543]
	if f == nil || f.System != "ptdecode" || f.Name != "jl" || len(f.Fields) != 9 || formats[1].System != "ftrace" {
		t.Fatalf("%+v", f)
	}
	raw := enc(uint16(1543), uint16(0), int32(42), uint64(0xffff800080030348), uint64(0xffff800081702c40), int32(-23107488), uint8(1), uint8(2), uint32(0xfffffffe))
	for _, c := range []struct {
		names string
		want  uint64
		ok    bool
	}{
		{"__probe_ip", 0xffff800080030348, true}, {"entry", 0xffff800081702c40, true}, {"site entry", 0xffff800081702c40, true},
		{"code", ^uint64(23107487), true}, {"common_pid", 42, true}, {"words", 0x201, true}, {"name", ^uint64(1), true}, {"target", 0, false},
	} {
		if v, ok := f.Int(raw, strings.Fields(c.names)...); v != c.want || ok != c.ok {
			t.Errorf("%s: %#x %v, want %#x %v", c.names, v, ok, c.want, c.ok)
		}
	}
	if _, ok := f.Int(raw[:27], "code"); ok {
		t.Error("a field behind the end of the sample")
	}
}

// TestTracingCut would catch a crash, or silence, where TRACING_DATA ends early: the
// formats before the cut are there.
func TestTracingCut(t *testing.T) {
	whole := tracingData("kprobes", jumpFormat, "name: z\nID: 7\nformat:\n")
	last := len(whole) - 16 // what follows the systems is not read
	for n := range whole {
		formats, err := parseTracing(whole[:n])
		if (err == nil) != (n >= last) {
			t.Fatalf("%d of %d bytes: error %v", n, len(whole), err)
		}
		if n >= last-len("name: z\nID: 7\nformat:\n") && formats[1543] == nil {
			t.Fatalf("%d of %d bytes: no format", n, len(whole))
		}
	}
	for off, what := range map[int]string{0: "magic", len(tracingMagic) + 4: "little-endian"} {
		b := slices.Clone(whole)
		b[off]++
		if _, err := parseTracing(b); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("byte %d is another: %v", off, err)
		}
	}
}

// FuzzTracing would catch a crash on TRACING_DATA or on a sample by its formats, and a
// number that is not the one at the field's place.
func FuzzTracing(f *testing.F) {
	f.Add(tracingData("kprobes", jumpFormat), []byte("0123456789abcdef0123456789abcdef"))
	f.Fuzz(func(t *testing.T, data, raw []byte) {
		formats, _ := parseTracing(data)
		for _, x := range formats {
			checkFormat(t, x, raw)
		}
	})
}

// FuzzFormat would catch the same of a format's text.
func FuzzFormat(f *testing.F) {
	f.Add(jumpFormat, []byte("0123456789abcdef0123456789abcdef"))
	f.Fuzz(func(t *testing.T, text string, raw []byte) {
		if x := parseFormat(text); x != nil {
			checkFormat(t, x, raw)
		}
	})
}

// checkFormat reads the fields of a sample once more, at once.
func checkFormat(t *testing.T, x *Format, raw []byte) {
	for i := range x.Fields {
		d := &x.Fields[i]
		if x.field(d.Name) != d {
			continue // another of the name comes first
		}
		v, ok := x.Int(raw, d.Name)
		number := d.Size == 1 || d.Size == 2 || d.Size == 4 || d.Size == 8
		if want := number && d.Off+d.Size <= len(raw); ok != want {
			t.Fatalf("%+v of %d bytes: %v", *d, len(raw), ok)
		}
		if !ok {
			continue
		}
		var b [8]byte
		if d.Signed && raw[d.Off+d.Size-1]&0x80 != 0 {
			b = [8]byte{255, 255, 255, 255, 255, 255, 255, 255}
		}
		copy(b[:], raw[d.Off:d.Off+d.Size])
		if want := binary.LittleEndian.Uint64(b[:]); v != want {
			t.Fatalf("%+v: %#x, want %#x", *d, v, want)
		}
	}
}
