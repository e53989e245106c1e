package report

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// FuzzEvents would catch an event stream that makes opening or decoding panic
// or hang, and one that is not written again as it was read.
func FuzzEvents(f *testing.F) {
	demo := filepath.Join("..", "..", "cmd", "ptdecode", "demo")
	var trace []byte
	for name, b := range testsize.Files(f, filepath.Join(demo, "*")) {
		switch filepath.Base(name) {
		case "cpu1.pt":
			trace = b
		case "events.jsonl":
			f.Add(b)
		}
	}
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
		if _, err := decoder.WriteEvents(decoder.Config{Events: path}, &once); err != nil {
			return
		}
		if err := os.WriteFile(path, once.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		var twice bytes.Buffer
		if _, err := decoder.WriteEvents(decoder.Config{Events: path}, &twice); err != nil || !bytes.Equal(once.Bytes(), twice.Bytes()) {
			t.Fatalf("written %q, then %q: %v", once.Bytes(), twice.Bytes(), err)
		}
		s, err := decoder.Open(decoder.Config{Raw: []decoder.RawTrace{{Protocol: decoder.IntelPT, CPU: 1, Path: filepath.Join(demo, "cpu1.pt")}}, Kcore: filepath.Join(demo, "kcore"), Events: path, SymFS: dir})
		if err != nil {
			return
		}
		defer s.Close()
		if s.Streams()[0].Size != int64(len(trace)) {
			t.Fatal("the trace is not whole")
		}
		if _, _, err := Traps(context.Background(), s, decoder.Query{Jobs: 1}); err != nil {
			t.Fatal(err)
		}
		for range s.Pokes() { // none may panic
		}
		Diff(s, 0, event.Epoch(s.Text().Len()))
		if _, err := Check(context.Background(), s, decoder.Query{Jobs: 1}, func(c *Finding) error {
			if c.What == "" {
				t.Fatalf("a finding that says nothing: %+v", c)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	})
}
