package decoder

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/perfdata"
	"github.com/ptdecode/ptdecode/kcore"
)

// writeEvents returns the event stream of what c names.
func writeEvents(t *testing.T, c Config) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := WriteEvents(c, &b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestRawPartsWithEvents would catch anything that decoding needs of a
// recording and that the event stream does not carry, symbols of the
// breakpoint's handler included, and an event that is read other than it was
// written.
func TestRawPartsWithEvents(t *testing.T) {
	root := filepath.Join(dataDir(t), "kernel-pokes-x86")
	names := []string{"kprobes", "ftrace"}
	if !testing.Short() {
		names = append(names, "tracepoints")
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(root, name)
			rec := filepath.Join(dir, "perf.data")
			path := filepath.Join(t.TempDir(), "e.jsonl")
			first := writeEvents(t, Config{Recording: rec})
			if err := os.WriteFile(path, first, 0o600); err != nil {
				t.Fatal(err)
			}
			if again := writeEvents(t, Config{Events: path}); !bytes.Equal(first, again) {
				t.Errorf("%d bytes of events became %d when read and written again", len(first), len(again))
			}
			s, err := Open(Config{
				PT:    []RawPT{{CPU: 0, Path: filepath.Join(dir, "cpu0.pt")}, {CPU: 1, Path: filepath.Join(dir, "cpu1.pt")}},
				Kcore: filepath.Join(rec, "kcore_dir", "kcore"), Events: path,
			})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			sum := newSums()
			if err := s.Flow(context.Background(), Query{}, sum); err != nil {
				t.Fatal(err)
			}
			g := readGolden(t, dir)
			for i, st := range s.Streams() {
				w := g.CPUs[fmt.Sprint(st.CPU)]
				sum.check(t, i, w.Instructions, w.SHA)
			}
			compareFacts(t, s, rec)
			c := s.Meta().PT
			if m := c.Model; !c.TSC || !c.MTC || c.MTCFreq != 3 || c.CTCNum != 80 || c.CTCDen != 2 || c.NoRETComp != (name == "kprobes") || m.Family != 6 || m.Model != 94 {
				t.Errorf("configuration %+v", c)
			}
		})
	}
}

// compareFacts fails where a session of raw parts knows other facts than one
// of the recording.
func compareFacts(t *testing.T, s *Session, rec string) {
	o, err := Open(Config{Recording: rec})
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	a, b := *s.Meta(), *o.Meta()
	a.Kind, a.Records, b.Kind, b.Records = "", nil, "", nil
	if fmt.Sprintf("%+v", a) != fmt.Sprintf("%+v", b) {
		t.Errorf("meta %+v\nwant %+v", a, b)
	}
	if x, y := fmt.Sprint(s.walk.Breaks), fmt.Sprint(o.walk.Breaks); x != y || len(s.walk.Breaks) == 0 {
		t.Errorf("the breakpoint's handler begins at %s, want %s", x, y)
	}
	if s.Text().Len() != o.Text().Len() {
		t.Errorf("%d pokes, want %d", s.Text().Len(), o.Text().Len())
	}
	if x, y := fmt.Sprint(s.tasks), fmt.Sprint(o.tasks); x != y {
		t.Errorf("threads %.200s\nwant %.200s", x, y)
	}
	if x, y := fmt.Sprint(s.users.maps, s.users.births, s.users.ids), fmt.Sprint(o.users.maps, o.users.births, o.users.ids); x != y {
		t.Errorf("mappings %.200s\nwant %.200s", x, y)
	}
	for i, st := range s.Streams() {
		if x, y := fmt.Sprint(st.Losses), fmt.Sprint(o.Streams()[i].Losses); x != y {
			t.Errorf("%s: losses %s, want %s", st.Name, x, y)
		}
	}
}

// made makes a record of its fields, in their own widths, with a sample_id.
func made(typ perfdata.Type, misc perfdata.Misc, fields ...any) *perfdata.Record {
	r := &perfdata.Record{Type: typ, Misc: misc, File: "f", Off: 64}
	for _, f := range fields {
		b, err := binary.Append(nil, binary.LittleEndian, f)
		if err != nil {
			panic(err)
		}
		r.Body = append(r.Body, b...)
	}
	r.Ident = perfdata.Ident{Time: 7, ID: 3, StreamID: 4, PID: 10, TID: 11, CPU: 1,
		Has: perfdata.SampleTime | perfdata.SampleTID | perfdata.SampleCPU}
	return r
}

// TestEventOf would catch a field of a record that the event stream does not
// carry, or carries under another name.
func TestEventOf(t *testing.T) {
	name := func(s string) []byte { return append([]byte(s), make([]byte, 8-len(s)%8)...) }
	for _, c := range []struct {
		rec  *perfdata.Record
		want string
	}{
		{made(perfdata.TypeNamespaces, 0, int32(5), int32(6), uint64(1), uint64(77), uint64(88)),
			`"type":"namespaces","time":7,"cpu":1,"pid":5,"tid":6,"by_pid":10,"by_tid":11,"id":3,"stream_id":4,"namespaces":[{"dev":77,"ino":88}]`},
		{made(perfdata.TypeCgroup, 0, uint64(9), name("/a")), `"type":"cgroup","time":7,"cpu":1,"pid":10,"tid":11,"id":3,"stream_id":4,"cgroup_id":9,"path":"/a"`},
		{made(perfdata.TypeBPFEvent, 0, uint16(1), uint16(2), uint32(3), [8]byte{1, 2}),
			`"type":"bpf","time":7,"cpu":1,"pid":10,"tid":11,"id":3,"stream_id":4,"kind":"load","flags":2,"bpf_id":3,"tag":"0102000000000000"`},
		{made(perfdata.TypeAuxOutputHWID, 0, uint64(0xabc)), `"type":"aux_output_hw_id","time":7,"cpu":1,"pid":10,"tid":11,"id":3,"stream_id":4,"hw_id":"abc"`},
		{made(perfdata.TypeLostSamples, 0, uint64(12)), `"type":"lost_samples","time":7,"cpu":1,"pid":10,"tid":11,"id":3,"stream_id":4,"lost":12`},
		{made(perfdata.TypeLost, 0, uint64(2), uint64(12)), `"type":"lost","time":7,"cpu":1,"pid":10,"tid":11,"id":3,"stream_id":4,"lost_id":2,"lost":12`},
		{made(perfdata.TypeExit, 0, int32(1), int32(2), int32(3), int32(4), uint64(6)),
			`"type":"exit","time":7,"cpu":1,"pid":1,"tid":3,"ppid":2,"ptid":4,"by_pid":10,"by_tid":11,"id":3,"stream_id":4`},
		{made(perfdata.TypeSwitchCPUWide, perfdata.MiscSwitchOut|perfdata.MiscSwitchPreempt, int32(1), int32(2)),
			`"type":"switch","time":7,"cpu":1,"pid":10,"tid":11,"id":3,"stream_id":4,"misc":24576,"out":true,"preempt":true,"other_pid":1,"other_tid":2`},
		{made(perfdata.TypeSwitch, 0), `"type":"switch","time":7,"cpu":1,"pid":10,"tid":11,"id":3,"stream_id":4,"record":14`},
		{made(perfdata.TypeAux, 0, uint64(16), uint64(32), uint64(1)), `"type":"aux","time":7,"cpu":1,"pid":10,"tid":11,"id":3,"stream_id":4,"flags":1,"offset":"10","size":32`},
		{made(perfdata.TypeKsymbol, 0, uint64(16), uint32(32), uint16(2), uint16(1), name("x")),
			`"type":"ksymbol","time":7,"cpu":1,"pid":10,"tid":11,"id":3,"stream_id":4,"addr":"10","len":32,"name":"x","kind":"ool","gone":true`},
		{made(perfdata.TypeMmap2, perfdata.MiscMmapBuildID, int32(1), int32(2), uint64(3), uint64(4), uint64(5), uint8(2), [3]byte{}, [20]byte{8, 9}, uint32(5), uint32(6), name("y")),
			`"type":"mmap","time":7,"cpu":1,"pid":1,"tid":2,"by_pid":10,"by_tid":11,"id":3,"stream_id":4,"misc":16384,"addr":"3","len":4,"flags":6,"pgoff":"5","file":"y","prot":5,"build_id":"0809"`},
		{made(perfdata.TypeAuxtraceError, 0, uint32(1), uint32(2), int32(3), int32(4), int32(5), uint32(1), uint64(0x66), uint64(77), [64]byte{'m'}),
			`"type":"auxtrace_error","time":77,"cpu":3,"pid":4,"tid":5,"id":3,"stream_id":4,"kind":"1","ip":"66","code":2,"message":"m"`},
		{made(perfdata.TypeThrottle, 0, uint64(1), uint64(2), uint64(3)),
			`"type":"record","time":7,"cpu":1,"pid":10,"tid":11,"id":3,"stream_id":4,"record":5,"raw":"010000000000000002000000000000000300000000000000"`},
	} {
		e, err := eventOf(c.rec)
		if err != nil {
			t.Errorf("%s: %v", c.rec.Type, err)
			continue
		}
		line, err := kcore.AppendEvent(nil, &e)
		if err != nil || !sameFields(string(line), "{"+c.want+"}\n") {
			t.Errorf("%s: %v\n%swant\n{%s}", c.rec.Type, err, line, c.want)
		}
		c.rec.Body = c.rec.Body[:len(c.rec.Body)/4]
		if _, err := eventOf(c.rec); err == nil && c.rec.Type != perfdata.TypeSwitch && c.rec.Type != perfdata.TypeThrottle {
			t.Errorf("%s cut short is taken", c.rec.Type)
		}
	}
}

// TestSampleTrace would catch hardware trace that a sample carries written into
// the event stream, and a sample's other fields lost with it.
func TestSampleTrace(t *testing.T) {
	rec := made(perfdata.TypeSample, 0, uint64(0x77), uint64(16), [16]byte{2, 0x82})
	for _, x := range []struct {
		sample uint64
		want   string
	}{
		{perfdata.SampleIP | perfdata.SampleAux, `"raw":"77000000000000001000000000000000","offset":"10","size":16`},
		{perfdata.SampleIP, `"raw":"77000000000000001000000000000000` + "02820000000000000000000000000000" + `"`},
	} {
		rec.Attr = &perfdata.Attr{SampleType: x.sample}
		e, err := eventOf(rec)
		if err != nil {
			t.Fatal(err)
		}
		line, err := kcore.AppendEvent(nil, &e)
		want := `{"type":"record","time":7,"cpu":1,"pid":10,"tid":11,"id":3,"stream_id":4,"record":9,` + x.want + "}\n"
		if err != nil || !sameFields(string(line), want) {
			t.Errorf("%v\n%swant\n%s", err, line, want)
		}
	}
}

// sameFields compares objects of JSON whatever the order of their fields.
func sameFields(a, b string) bool {
	var x, y map[string]any
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return false
	}
	return cmp.Equal(x, y)
}

// TestTextEvents would catch text of BPF programs that an event states and that
// is not decoded with.
func TestTextEvents(t *testing.T) {
	path := filepath.Join(t.TempDir(), "e.jsonl")
	if err := os.WriteFile(path, []byte(`{"type":"text","addr":"ffffffffc0001000","bytes":"90c3","name":"prog","bpf_id":4}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open(Config{Events: path})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var b [4]byte
	if n := s.Code(b[:], 0, 0xffffffffc0001000, 0); n != 2 || b[0] != 0x90 || b[1] != 0xc3 {
		t.Errorf("%d bytes, % x", n, b)
	}
}

// FuzzEvents would catch an event stream that makes opening or decoding panic
// or hang, and one that is not written again as it was read.
func FuzzEvents(f *testing.F) {
	demo := filepath.Join("..", "cmd", "ptdecode", "demo")
	seed, err := os.ReadFile(filepath.Join(demo, "events.jsonl"))
	if err != nil {
		f.Fatal(err)
	}
	trace, err := os.ReadFile(filepath.Join(demo, "cpu1.pt"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Add([]byte(`{"type":"mmap","pid":1,"tid":1,"addr":"ffffffffffffffff","len":18446744073709551615,"prot":4,"file":"/x"}
{"type":"switch","cpu":1,"time":18446744073709551615,"out":true,"other_pid":1,"other_tid":1}
{"type":"time_conv","shift":65535,"mult":4294967295,"zero":1}
{"type":"auxtrace_info","pmu":1,"priv":["8","ffff","0","0","1","0","0","0","0","0","0","ffffffffffffffff","0","0","0","ff","ffffffffffffffff"]}
{"type":"fork","pid":1,"tid":1,"ppid":1,"ptid":1}
{"type":"fork","pid":1,"tid":1,"ppid":2,"ptid":1}
{"type":"fork","pid":2,"tid":1,"ppid":1,"ptid":1}
{"type":"text","addr":"ffffffffffffffff","bytes":"9090"}
{"type":"lost","cpu":1,"lost":5}
{"type":"aux_loss","cpu":1,"offset":"ffffffffffffffff","begin":5}
{"type":"text_poke","addr":"ffffffff81000023","old":"0f1f440000","new":"e901000000","scheme":"atomic","begin":0,"end":18446744073709551615}
`))
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		path := filepath.Join(dir, "e.jsonl")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		var once bytes.Buffer
		if _, err := WriteEvents(Config{Events: path}, &once); err != nil {
			return
		}
		if err := os.WriteFile(path, once.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		var twice bytes.Buffer
		if _, err := WriteEvents(Config{Events: path}, &twice); err != nil || !bytes.Equal(once.Bytes(), twice.Bytes()) {
			t.Fatalf("written %q, then %q: %v", once.Bytes(), twice.Bytes(), err)
		}
		s, err := Open(Config{PT: []RawPT{{CPU: 1, Path: filepath.Join(demo, "cpu1.pt")}}, Kcore: filepath.Join(demo, "kcore"), Events: path, SymFS: dir})
		if err != nil {
			return
		}
		defer s.Close()
		if s.Streams()[0].Size != int64(len(trace)) {
			t.Fatal("the trace is not whole")
		}
		if _, _, err := s.Traps(context.Background(), Query{Jobs: 1}); err != nil {
			t.Fatal(err)
		}
		s.Pokes()
		s.Diff(0, event.Epoch(s.Text().Len()))
		if err := s.Check(context.Background(), Query{Jobs: 1}, func(c *Check) error {
			if c.What == "" {
				t.Fatalf("a finding that says nothing: %+v", c)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	})
}
