package sideband

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/ptdecode/ptdecode/decoder/testsize"
	"github.com/ptdecode/ptdecode/kcore"
)

// plainDiff compares what parsePlain makes of a line with what encoding/json
// does, as far as parsePlain takes the line.
func plainDiff(line []byte) (plain bool, diff string) {
	fast, slow := NewReader(nil, "events"), NewReader(nil, "events")
	fast.event.CPU, slow.event.CPU = -1, -1
	if !fast.parsePlain(line) {
		return false, ""
	}
	if err := slow.parseAny(line); err != nil {
		return true, fmt.Sprintf("taken, but %v", err)
	}
	return true, cmp.Diff(slow.event, fast.event)
}

// values are what the lines of TestPlainTwin have for a field.
var values = strings.Fields(`0 1 -1 -0 00 01 1.0 1e2 -  9 65535 65536 2147483647 2147483648 -2147483648 -2147483649
	4294967295 4294967296 9223372036854775807 -9223372036854775807 9223372036854775808 9999999999999999999 18446744073709551615
	true false null tru "" "a" "ff" "FF" "0xff" "0x" "0xg" "x" "90cc" "9" "90|cc" "0123456789abcdef" "00123456789abcdef" "\u0061"
	"\n" "\xff" "日" [1] {"hex":"ff"} {"a":"b"} "12 "12} 1_0 +1 0x10`)

// TestPlainTwin would catch a line that the fast reader takes and reads as another
// record than encoding/json does. It tries each field with values that fit it, nearly
// fit it or do not. It also tries fields named twice, and odd white space.
func TestPlainTwin(t *testing.T) {
	rnd := rand.New(rand.NewPCG(6, 6))
	names := []string{"type", "time", "cpu", "zz", "Type", "typ\\u0065"}
	fields := reflect.TypeFor[Fields]()
	for i := range fields.NumField() {
		names = append(names, fieldName(fields.Field(i)))
	}
	taken := 0
	try := func(line string) bool {
		plain, diff := plainDiff([]byte(line))
		if diff != "" {
			t.Fatalf("%s: %s", line, diff)
		}
		return plain
	}
	for _, n := range names {
		for _, v := range values {
			v = strings.ReplaceAll(v, "|", " ")
			if try(`{"type":"x","` + n + `":` + v + `}`) {
				taken++
			}
			try(`{"` + n + `":` + v + ",\"" + n + "\":1}")
		}
	}
	if taken < 500 {
		t.Errorf("%d lines of one field taken, want more", taken)
	}
	for _, line := range []string{"", "}", "{}", "{", `{"type":"x",}`, `{"type":"x"}}`, `{,"type":"x"}`} {
		try(line)
	}
	spaces := []string{"", "", " ", "\t\r\n", "\v", ",", "\u00a0", "}"}
	for range testsize.Of(t, 1000, 20000) {
		var b strings.Builder
		for _, c := range []string{"{", `"type"`, ":", `"mmap"`, ",", `"len"`, ":", "12", ",", `"gone"`, ":", "true", "}", ""} {
			if s := rnd.IntN(40); s < len(spaces) {
				b.WriteString(spaces[s])
			}
			if rnd.IntN(60) > 0 {
				b.WriteString(c)
			}
		}
		try(b.String())
	}
	for _, line := range []string{
		`{"type":"text_poke","time":3889214384,"cpu":0,"addr":"ffffffffa3800490","old":"e97b782dff","new":"e9abdd3cff"}`,
		` { "type" : "text_poke" , "addr" : 1024, "new":"90", "begin":0, "end":9, "scheme":"bp" } ` + "\r\n",
		`{"type":"mmap","time":2,"pid":-10,"tid":10,"addr":"0x401000","len":4096,"pgoff":"1000","prot":5,"file":"/bin/one","build_id":""}`,
		`{"type":"comm","exec":true,"comm":"a b","misc":8192,"code":-9}`,
	} {
		if !try(line) {
			t.Errorf("left to encoding/json: %s", line)
		}
	}
}

// FuzzPlain would catch what TestPlainTwin would, in lines of any kind.
func FuzzPlain(f *testing.F) {
	f.Add([]byte(`{"type":"text_poke","time":1,"cpu":0,"addr":"ff","old":"90","new":"cc","scheme":"kprobe","begin":0,"end":2}`))
	f.Add([]byte("}"))
	f.Add([]byte(`{"time":0,"addr":"0}`))
	f.Add([]byte("{\"type\":\"comm\", \"comm\":{\"hex\":\"ff\"},\"pid\":-1,\"q\":[1e9]}\r\n"))
	f.Fuzz(func(t *testing.T, line []byte) {
		if _, diff := plainDiff(line); diff != "" {
			t.Fatal(diff)
		}
	})
}

// manyPokes returns n pokes of a jump label as lines.
func manyPokes(tb testing.TB, n int) []byte {
	nop5, call5 := []byte{0x0f, 0x1f, 0x44, 0, 0}, []byte{0xe8, 0x1b, 3, 0, 0}
	var out []byte
	for i := range n {
		p := kcore.RecordedPoke(uint64(i)*1000+math.MaxInt32, i%8, 0xffffffffa3800490+uint64(i)*16, nop5, call5)
		e := pokeEvent(&p)
		e.PID, e.TID, e.Scheme = 10, int32(10+i%3), ""
		var err error
		if out, err = Append(out, &e); err != nil {
			tb.Fatal(err)
		}
	}
	return out
}

// TestPokesAllocate would catch a reader that makes garbage with each poke, and one
// whose work for a line grows with the lines before it.
func TestPokesAllocate(t *testing.T) {
	work := func(n int) float64 {
		data := manyPokes(t, n)
		return testing.AllocsPerRun(2, func() {
			if es, err := readAll(data); err != nil || len(es) != n {
				t.Fatalf("%d events, %v", len(es), err)
			}
		})
	}
	const n = 2000
	a, b := work(n), work(2*n)
	if a > n/4 || b > 2.3*a {
		t.Errorf("%.0f allocations for %d pokes, %.0f for twice as many", a, n, b)
	}
}

// BenchmarkReadEvents measures reading a journal of pokes, by parsePlain and by
// encoding/json.
func BenchmarkReadEvents(b *testing.B) {
	const n = 1000
	data := manyPokes(b, n)
	b.Run("plain", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			r := NewReader(bytes.NewReader(data), "events")
			for range n {
				if _, err := r.Read(); err != nil {
					b.Fatal(err)
				}
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/poke")
	})
	b.Run("any", func(b *testing.B) {
		b.ReportAllocs()
		r := NewReader(nil, "events")
		for b.Loop() {
			for line := range bytes.Lines(data) {
				r.event = Record{CPU: -1}
				if err := r.parseAny(line); err != nil {
					b.Fatal(err)
				}
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/poke")
	})
}
