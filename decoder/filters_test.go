package decoder

import (
	"context"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/internal/addrfilter"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
)

// endings is a Sink that writes the retired addresses, and where tracing ends.
type endings struct{ strings.Builder }

func (p *endings) Flow(b *flow.Batch) error {
	for n, r := range b.All() {
		switch {
		case r != nil:
			for _, ip := range appendOn(nil, r) {
				fmt.Fprintf(p, "%x ", ip)
			}
		case n.Kind == flow.NoteGap:
			fmt.Fprintf(p, "gap:%v ", n.Gap.Reason)
		case n.Kind == flow.NoteTrackOff:
			fmt.Fprintf(p, "off:%x ", n.Event.IP)
		}
	}
	return nil
}

// TestFiltered would catch a filter that does not come from the recording to
// the walk. It would also catch one with offsets in a file that is compared
// with addresses. A conditional branch leaves the filtered code, and there the
// trace ends without an address.
func TestFiltered(t *testing.T) {
	write := folder(t)
	dir := filepath.Dir(write("one", strings.Repeat("\x00", 0x1000)+"\x90\x74\x1d\x90\xeb\xfa")) // nop; je +0x1d; nop; jmp to the start
	priv := make([]uint64, 16, 32)
	aux := func(filter string) string {
		w := append(priv[:16:16], uint64(len(filter)))
		s := []byte(filter + strings.Repeat("\x00", 8-len(filter)%8))
		for ; len(s) > 0; s = s[8:] {
			w = append(w, binary.LittleEndian.Uint64(s))
		}
		var hex []string
		for _, v := range append(w, 0) {
			hex = append(hex, fmt.Sprintf(`"%x"`, v))
		}
		return `{"type":"auxtrace_info","pmu":1,"priv":[` + strings.Join(hex, ",") + `]}`
	}
	trace := write("cpu0.pt", string(must(t, nil, "psb\ntsc 0x64\nmode.exec l\npsbend\ntip.pge 6: 0x401000\ntnt nt\ntip.pgd\ntip.pge 6: 0x401001\ntip.pgd\npsb\npsbend\n")))
	for name, c := range map[string]struct{ filter, call, want string }{
		"in the recording": {"filter 0x1000/0x6@/one", "", "401000 401001 401003 401004 401000 401001 off:401020 401001 off:401020 "},
		"in the call":      {"", "filter 0x1000/0x6@/one", "401000 401001 401003 401004 401000 401001 off:401020 401001 off:401020 "},
		"stop":             {"tracestop 0x1020/0x1@/one", "", "401000 401001 401003 401004 401000 401001 off:401020 401001 off:401020 "},
		"another file":     {"stop 0x1020/0x1@/two", "", "401000 401001 401003 401004 401000 401001 gap:no-text off:0 gap:mismatch off:0 "},
		"none":             {"", "", "401000 401001 401003 401004 401000 401001 gap:no-text off:0 gap:mismatch off:0 "},
	} {
		events := write("e.jsonl", strings.Join([]string{
			`{"type":"stream","version":1}`, aux(c.filter),
			`{"type":"comm","time":1,"pid":10,"tid":10,"comm":"one","exec":true}`,
			`{"type":"mmap","time":2,"pid":10,"tid":10,"addr":"401000","len":4096,"pgoff":"1000","prot":5,"file":"/one"}`,
			`{"type":"itrace_start","time":3,"cpu":0,"pid":10,"tid":10}`,
		}, "\n")+"\n")
		call, err := addrfilter.Parse(c.call)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Open(Config{Raw: []RawTrace{{Protocol: stream.IntelPT, CPU: 0, Path: trace}}, Events: events, SymFS: dir, Filters: call})
		if err != nil {
			t.Fatal(err)
		}
		var got endings
		if err := s.Flow(context.Background(), Query{}, &got); err != nil {
			t.Fatal(err)
		}
		if got.String() != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got.String(), c.want)
		}
		if m := s.Meta().Filter; c.call == "" && m != c.filter {
			t.Errorf("%s: filter %q", name, m)
		}
		s.Close()
	}
}
