package sideband

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ptdecode/ptdecode/decoder/badfile"
	"github.com/ptdecode/ptdecode/kcore"
)

// readAll reads a stream to its end.
func readAll(data []byte) ([]Record, error) {
	r := NewReader(bytes.NewReader(data), "events")
	var out []Record
	for {
		e, err := r.Read()
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		out = append(out, *e)
	}
}

// fill gives every field of v a random value other than zero, most extreme
// ones among them.
func fill(v reflect.Value, rnd *rand.Rand) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), rnd)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), rnd)
	case reflect.String:
		some := []string{"a", "<&>\u2028\"\\", "{", "日", "\xff\x00raw"}
		if v.Type() == reflect.TypeFor[string]() { // from a fixed set, always UTF-8
			some = some[:4]
		}
		v.SetString(some[rnd.IntN(len(some))])
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt([]int64{-1, 1, math.MaxInt32, math.MinInt32}[rnd.IntN(4)])
	case reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uint8:
		v.SetUint(uint64(1) + ^uint64(1)>>(64-v.Type().Bits())>>rnd.IntN(3)&math.MaxUint64>>1)
		if rnd.IntN(2) == 0 {
			v.SetUint(^uint64(0) >> (64 - v.Type().Bits()))
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1+rnd.IntN(3), 3))
		for i := range v.Len() {
			fill(v.Index(i), rnd)
		}
	case reflect.Map:
		v.Set(reflect.ValueOf(map[string]Str{"release": "6.1\xff", "": "\n"}))
	default:
		panic(fmt.Sprintf("kcore: no random value for %s", v.Kind()))
	}
}

// TestEventsRoundTrip would catch a field that is not written, and an unknown field
// that is dropped. It would also catch one that loses bits: numbers above 2^53, names
// that are no UTF-8, a time of 0, CPU 0.
func TestEventsRoundTrip(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 5))
	all := Record{Type: "everything", Timed: true, CPU: 0, Extra: map[string]json.RawMessage{
		"zz-new": json.RawMessage(`{"a":[1,18446744073709551615,1e400]}`), "\"": json.RawMessage(`null`),
	}}
	for round := range 50 {
		var want []Record
		fill(reflect.ValueOf(&all.Fields).Elem(), rnd)
		all.Version = 1
		want = append(want, all)
		f := reflect.TypeFor[Fields]()
		for i := range f.NumField() { // each field alone
			one := Record{Type: "one", CPU: -1}
			fill(reflect.ValueOf(&one.Fields).Elem().Field(i), rnd)
			want = append(want, one)
		}
		var b bytes.Buffer
		w := NewWriter(&b)
		for i := range want {
			if err := w.Write(&want[i]); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		got, err := readAll(b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if got[0].Type != TypeStream || got[0].Version != Version {
			t.Errorf("first line %+v, want the stream's version", got[0])
		}
		if d := cmp.Diff(want, got[1:]); d != "" {
			t.Fatalf("round %d: read differs from written (-want +got):\n%s", round, d)
		}
	}
}

// TestPokeEvents would catch a poke that is not the same out of the stream:
// the window, an unknown CPU, empty old or new text, each scheme.
func TestPokeEvents(t *testing.T) {
	for s := kcore.SchemeNone; s.String() != "?"; s++ {
		for _, p := range []kcore.Poke{
			{Time: 0, CPU: -1, Addr: 1, Old: []byte{1}, New: []byte{2}, Scheme: s},
			{Time: 1 << 63, Begin: 5, End: math.MaxUint64, CPU: 3, Addr: 0xffffffffc0000000, New: []byte{2}, Scheme: s},
			{Time: 7, Begin: 0, End: 7, CPU: 0, Addr: 8, Old: []byte{0}, Scheme: s},
		} {
			e := pokeEvent(&p)
			line, err := Append(nil, &e)
			if err != nil {
				t.Fatal(err)
			}
			es, err := readAll(line)
			if err != nil {
				t.Fatal(err)
			}
			got, err := es[0].Poke()
			if d := cmp.Diff(p, got); err != nil || d != "" {
				t.Errorf("%s: %v %s", line, err, d)
			}
		}
	}
}

// TestEventsByHand would catch a change of the schema's spelling: these lines
// are what others write.
func TestEventsByHand(t *testing.T) {
	es, err := readAll([]byte(`{"type":"stream","version":1}

{"type":"text_poke","time":3889214384,"cpu":0,"addr":"ffffffffa3800490","old":"e97b782dff","new":"e9 ab dd 3c ff"}
{"type":"text_poke","time":5,"addr":"0xffff800008010000","old":"1f2003d5","new":"04000014","scheme":"atomic","begin":4,"end":9}
{"type":"text_poke","time":6,"addr":1024,"new":"90"}`))
	if err != nil || len(es) != 4 {
		t.Fatalf("%d events, %v", len(es), err)
	}
	want := []kcore.Poke{
		{Time: 3889214384, Begin: 3889214384, End: 3889214384, Addr: 0xffffffffa3800490, Old: []byte{0xe9, 0x7b, 0x78, 0x2d, 0xff}, New: []byte{0xe9, 0xab, 0xdd, 0x3c, 0xff}, Scheme: kcore.SchemeBP},
		{Time: 5, Begin: 4, End: 9, CPU: -1, Addr: 0xffff800008010000, Old: []byte{0x1f, 0x20, 0x03, 0xd5}, New: []byte{4, 0, 0, 0x14}, Scheme: kcore.SchemeAtomic},
		{Time: 6, Begin: 6, End: 6, CPU: -1, Addr: 1024, New: []byte{0x90}, Scheme: kcore.SchemeSlot},
	}
	for i, w := range want {
		got, err := es[i+1].Poke()
		if d := cmp.Diff(w, got); err != nil || d != "" {
			t.Errorf("poke %d: %v %s", i, err, d)
		}
	}
}

// TestEventsErrors would catch an error that does not say where, and input
// that is taken without one.
func TestEventsErrors(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"{\"type\":\"x\"}\n[1]\n", "e+0xd: line 2: want one JSON object, in braces"},
		{"\n\n{}", `e+0x2: line 3: no field "type"`},
		{`{"type":"x","time":-1}`, `e+0x0: line 1: field "time": want a whole number from 0 to 18446744073709551615`},
		{`{"type":"x","time":1.5}`, `line 1: field "time": want a whole number from 0 to`},
		{`{"type":"x","begin":"1"}`, `line 1: field "begin": want a whole number from 0 to`},
		{`{"type":"x","misc":70000}`, `line 1: field "misc": want a whole number from 0 to 65535`},
		{`{"type":"x","pid":"1"}`, `line 1: field "pid": want a whole number from -2147483648 to 2147483647`},
		{`{"type":"x","code":[]}`, `line 1: field "code": want a whole number from -9223372036854775808 to 9223372036854775807`},
		{`{"type":1}`, `line 1: field "type": want text in quotes`},
		{`{"type":"x","comm":1}`, `line 1: field "comm": want text in quotes`},
		{`{"type":"x","exec":"yes"}`, `line 1: field "exec": want true or false`},
		{`{"type":"meta","meta":1}`, `line 1: field "meta": want an object`},
		{`{"type":"x","ids":1}`, `line 1: field "ids": want a list, in brackets`},
		{`{"type":"x","ids":["a"]}`, `line 1: field "ids": want a whole number from 0`},
		{`{"type":"x","namespaces":[1]}`, `line 1: field "namespaces": want an object, in braces`},
		{`{"type":"x","namespaces":[{"dev":"a"}]}`, `line 1: field "namespaces": "dev": want a whole number from 0`},
		{`{"type":"x","addr":"12345678123456781"}`, `line 1: field "addr": want 1 to 16 hexadecimal digits`},
		{`{"type":"x","old":"abc"}`, `line 1: field "old": want bytes`},
		{`{"type":"x","cpu":-2}`, `line 1: field "cpu": -2`},
		{`{"type":"x","cpu":null}`, `line 1: field "cpu": null`},
		{`{"type":"stream","version":2}`, `line 1: version 2 of the stream, know 1`},
		{`{"type":"x"} {"type":"y"}`, `line 1: want one JSON object`},
		{`{"type":"` + strings.Repeat("x", MaxLine), fmt.Sprintf("line 1: over %d bytes", MaxLine)},
	} {
		r := NewReader(strings.NewReader(tt.in), "e")
		var err error
		for err == nil {
			_, err = r.Read()
		}
		var fe *badfile.Error
		if !errors.As(err, &fe) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%.60s: error %v, want %s", tt.in, err, tt.want)
		}
		if strings.Contains(err.Error(), "Go ") {
			t.Errorf("%.60s: words of Go: %v", tt.in, err)
		}
		if _, again := r.Read(); again != err {
			t.Errorf("%.60s: after the error %v", tt.in, again)
		}
	}
	bad := Record{Type: TypePoke, Timed: true, Fields: Fields{Scheme: "magic", Old: HexBytes{1}}}
	if _, err := bad.Poke(); err == nil || !strings.Contains(err.Error(), `scheme "magic", want one of none, bp`) {
		t.Errorf("unknown scheme: %v", err)
	}
	if _, err := (&Record{Type: TypePoke, Fields: Fields{Old: HexBytes{1}}}).Poke(); err == nil {
		t.Error("a poke without a time is taken")
	}
}

// FuzzEvents would catch a panic, a reader that does not end, and an event
// that is read but not the same when written and read again.
func FuzzEvents(f *testing.F) {
	f.Add([]byte(`{"type":"text_poke","time":1,"cpu":0,"addr":"ff","old":"90","new":"cc","scheme":"kprobe","begin":0,"end":2}`))
	f.Add([]byte("{\"type\":\"comm\",\"comm\":{\"hex\":\"ff\"},\"pid\":-1,\"q\":[1e9]}\n\n{\"type\":\"meta\",\"meta\":{\"a\":\"b\"}}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		es, _ := readAll(data)
		var b []byte
		for i := range es {
			var err error
			if b, err = Append(b, &es[i]); err != nil {
				t.Fatal(err)
			}
			if p, err := es[i].Poke(); err == nil {
				if _, err := kcore.NewJournal([]kcore.Poke{p}); err != nil {
					t.Fatal(err)
				}
			}
		}
		again, err := readAll(b)
		if err != nil {
			t.Fatalf("%v in %s", err, b)
		}
		c := []byte{}
		for i := range again {
			c, _ = Append(c, &again[i])
		}
		if !bytes.Equal(b, c) && len(b) > 0 {
			t.Fatalf("written again:\n%s\nbefore:\n%s", c, b)
		}
	})
}

// pokeEvent returns the stream event of a poke.
func pokeEvent(p *kcore.Poke) Record {
	e := Record{Type: TypePoke, Time: p.Time, Timed: true, CPU: p.CPU}
	e.Addr, e.Old, e.New, e.Scheme = Hex(p.Addr), p.Old, p.New, p.Scheme.String()
	if p.Begin != p.Time || p.End != p.Time {
		e.Begin, e.End = &p.Begin, &p.End
	}
	return e
}
