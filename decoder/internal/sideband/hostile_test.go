package sideband

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/badfile"
)

// hostileStream is a stream of events that nobody would write. What is to be said of it is
// part of the error, or nothing where it is taken as n events.
type hostileStream struct {
	name, in, want string
	n              int
}

// hostileStreams returns streams of broken JSON, odd numbers, long names, deep nesting,
// zero bytes and records that are unknown or out of order.
func hostileStreams() []hostileStream {
	const ok = `{"type":"comm","time":5,"pid":1,"tid":1,"comm":"a"}` + "\n" // 52 bytes
	long := strings.Repeat("n", 1<<20)
	return []hostileStream{
		{"cut short", ok + `{"type":"comm","ti`, "e+0x34: line 2: want one JSON object", 0},
		{"no comma", ok + `{"type":"x" "time":1}`, "e+0x34: line 2: want one JSON object", 0},
		{"an array", ok + `[{"type":"x"}]`, "e+0x34: line 2: want one JSON object", 0},
		{"two in a line", ok + `{"type":"x"}{"type":"y"}`, "e+0x34: line 2: want one JSON object", 0},
		{"binary", ok + "\x7fELF\x02\x01\x01\x00\n", "e+0x34: line 2: want one JSON object", 0},
		{"no type", ok + `{}`, `e+0x34: line 2: no field "type"`, 0},
		{"a type that is a number", ok + `{"type":7}`, `e+0x34: line 2: field "type"`, 0},
		{"a type that is nothing", ok + `{"type":null}`, `e+0x34: line 2: field "type": null`, 0},

		{"a time of 2^64", ok + `{"type":"x","time":18446744073709551616}`, `e+0x34: line 2: field "time"`, 0},
		{"the largest time", ok + `{"type":"x","time":18446744073709551615}`, "", 2},
		{"a negative time", ok + `{"type":"x","time":-1}`, `e+0x34: line 2: field "time"`, 0},
		{"a time with an exponent", ok + `{"type":"x","time":1e9999999}`, `e+0x34: line 2: field "time"`, 0},
		{"a time of a million digits", ok + `{"type":"x","time":` + strings.Repeat("9", 1<<20) + `}`, `e+0x34: line 2: field "time"`, 0},
		{"a CPU of 2^31", ok + `{"type":"x","cpu":2147483648}`, `e+0x34: line 2: field "cpu"`, 0},
		{"a negative CPU", ok + `{"type":"x","cpu":-7}`, `e+0x34: line 2: field "cpu"`, 0},
		{"a PID of 2^31", ok + `{"type":"x","pid":2147483648}`, `e+0x34: line 2: field "pid"`, 0},
		{"an address of 17 digits", ok + `{"type":"mmap","addr":"10000000000000000"}`, `e+0x34: line 2: field "addr"`, 0},
		{"the largest length", ok + `{"type":"mmap","addr":"1","len":18446744073709551615}`, "", 2},
		{"a size that is no memory's", ok + `{"type":"aux","size":18446744073709551615,"offset":"ffffffffffffffff"}`, "", 2},

		{"a name of 1 MB", ok + `{"type":"comm","comm":"` + long + `"}`, "", 2},
		{"an unknown field's name of 1 MB", ok + `{"type":"comm","` + long + `":1}`, "", 2},
		{"a type of 1 MB", ok + `{"type":"` + long + `"}`, "", 2},
		{"bytes of 1 MB", ok + `{"type":"text","bytes":"` + strings.Repeat("90", 1<<20) + `"}`, "", 2},
		{"a line that is too long", ok + `{"type":"` + strings.Repeat("x", MaxLine), "e+0x34: line 2: over 4194304 bytes", 0},

		{"deep arrays in an unknown field", ok + `{"type":"x","y":` + strings.Repeat("[", 1<<20) + strings.Repeat("]", 1<<20) + `}`, "e+0x34: line 2: want one JSON object", 0},
		{"deep objects that do not end", ok + strings.Repeat(`{"type":`, 1<<18), "e+0x34: line 2: want one JSON object", 0},
		{"deep arrays in a known field", ok + `{"type":"x","priv":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + `}`, `e+0x34: line 2: field "priv"`, 0},
		{"an object for a number", ok + `{"type":"x","len":{"a":{}}}`, `e+0x34: line 2: field "len"`, 0},

		{"a zero byte between", ok + "\x00\n", "e+0x34: line 2: want one JSON object", 0},
		{"a zero byte in a string", ok + "{\"type\":\"x\x00\"}", "e+0x34: line 2: want one JSON object", 0},
		{"an escaped one in a name", ok + `{"type":"comm","comm":"a\u0000b"}`, "", 2},
		{"no UTF-8", ok + "{\"type\":\"comm\",\"comm\":\"\xff\xfe\"}", "", 2},
		{"half of a pair", ok + `{"type":"comm","comm":"\ud800"}`, "", 2},

		{"out of order", ok + `{"type":"exit","time":4,"pid":1,"tid":1}` + "\n" + `{"type":"fork","time":0,"pid":1,"tid":1}`, "", 3},
		{"unknown types", ok + strings.Repeat(`{"type":"of-the-future","time":1,"x":[1,{"y":null}]}`+"\n", 1000), "", 1001},
		{"the first line in between", ok + `{"type":"stream","version":1}`, "", 2},
		{"of the future", ok + `{"type":"stream","version":2}`, "e+0x34: line 2: version 2 of the stream", 0},
		{"many empty lines", ok + strings.Repeat("\n", 1<<20), "", 1},
		{"one field a million times", ok + `{` + strings.Repeat(`"cpu":1,`, 1<<18) + `"type":"x"}`, "", 2},
	}
}

// readHostile reads all of a stream, and returns how many events there are, the error and
// how many bytes were taken from memory for it.
func readHostile(in string) (n int, err error, took uint64) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := NewReader(strings.NewReader(in), "e")
	for {
		e, err := r.Read()
		if err != nil {
			runtime.ReadMemStats(&after)
			return n, err, after.TotalAlloc - before.TotalAlloc
		}
		_, _ = e.Poke()
		_ = e.Ksymbol()
		n++
	}
}

// TestHostileEvents would catch a stream of events that makes the reader panic, take
// memory that its size does not warrant, or fail without file, offset and line. It would
// also catch one that is refused though all in it can be read.
func TestHostileEvents(t *testing.T) {
	for _, h := range hostileStreams() {
		n, err, took := readHostile(h.in)
		var bad *badfile.Error
		switch {
		case h.want == "" && (err != io.EOF || n != h.n):
			t.Errorf("%s: %d events, %v; want %d", h.name, n, err, h.n)
		case h.want != "" && (!errors.As(err, &bad) || !strings.Contains(err.Error(), h.want)):
			t.Errorf("%s: %d events, %v; want %s", h.name, n, err, h.want)
		case h.want != "" && n != 1:
			t.Errorf("%s: %d events before the error, want 1", h.name, n)
		}
		if err != nil && len(err.Error()) > 400 {
			t.Errorf("%s: an error of %d bytes", h.name, len(err.Error()))
		}
		if most := warranted(len(h.in)); took > most {
			t.Errorf("%s: %d bytes taken for a stream of %d, want at most %d", h.name, took, len(h.in), most)
		}
	}
}

// warranted is how many bytes may be taken from memory, in all, to read a stream of size
// bytes: what any needs, and so much for each byte.
func warranted(size int) uint64 { return 1<<20 + 64*uint64(size) }

// FuzzHostileEvents would catch what TestHostileEvents would in streams of any kind: a
// panic, an error that names no place in the stream, and memory that it does not warrant.
func FuzzHostileEvents(f *testing.F) {
	for _, h := range hostileStreams() {
		if len(h.in) < 1<<12 {
			f.Add([]byte(h.in))
		}
	}
	for _, deep := range []string{"[", `{"a":`} {
		f.Add([]byte(`{"type":"x","y":` + strings.Repeat(deep, 300)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		lines := bytes.Count(data, []byte{'\n'}) + 1
		n, err, took := readHostile(string(data))
		var bad *badfile.Error
		if err != io.EOF && (!errors.As(err, &bad) || bad.File != "e" || bad.Off < 0 || bad.Off > int64(len(data)) || !strings.Contains(err.Error(), fmt.Sprint("line "))) {
			t.Fatalf("an error without a place: %v", err)
		}
		if n > lines {
			t.Fatalf("%d events of %d lines", n, lines)
		}
		if most := warranted(len(data)); took > 4*most { // others of the process take memory too
			t.Fatalf("%d bytes taken for a stream of %d", took, len(data))
		}
	})
}
