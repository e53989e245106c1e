package recording

import (
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/internal/perfdata"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
)

// TestUntraced would catch a CPU whose trace is not in the file, and of which nothing is said. It
// would catch one that is called missing where that is not certain, too.
func TestUntraced(t *testing.T) {
	first := auxRecord{cpu: 1, tid: 7, size: 10}
	for _, c := range []struct {
		what    string
		records []auxRecord
		streams []int32 // CPUs
		raw     []int32
		kind    perfdata.AuxKind
		want    bool
	}{
		{"one is missing", []auxRecord{{cpu: 0, size: 3}, first}, []int32{0}, nil, perfdata.AuxIntelPT, true},
		{"both are there", []auxRecord{{cpu: 0, size: 3}, first}, []int32{0, 1}, nil, perfdata.AuxIntelPT, false},
		{"it lies apart", []auxRecord{first}, []int32{0}, []int32{1}, perfdata.AuxIntelPT, false},
		{"nothing was written", []auxRecord{{cpu: 1}}, []int32{0}, nil, perfdata.AuxIntelPT, false},
		{"its beginning is another file's", []auxRecord{{cpu: 1, off: 10, size: 10}}, []int32{0}, nil, perfdata.AuxIntelPT, false},
		{"rings are overwritten", []auxRecord{first, {cpu: 0, size: 3, over: true}}, []int32{0}, nil, perfdata.AuxIntelPT, false},
		{"threads are traced", []auxRecord{first}, []int32{-1}, nil, perfdata.AuxIntelPT, false},
		{"records have no CPU", []auxRecord{{cpu: -1, size: 10}}, []int32{0}, nil, perfdata.AuxIntelPT, false},
		{"there is no trace at all", []auxRecord{first}, nil, nil, perfdata.AuxIntelPT, false},
		{"CPUs share a sink", []auxRecord{first}, []int32{0}, nil, perfdata.AuxCSETM, false},
	} {
		cfg := Config{Recording: "rec"}
		for _, cpu := range c.raw {
			cfg.Raw = append(cfg.Raw, RawTrace{CPU: cpu})
		}
		f := newFacts(&cfg)
		f.auxRecords, f.auxSize[1] = c.records, 10
		f.auxInfo = &perfdata.AuxInfo{Kind: c.kind}
		if c.kind == perfdata.AuxIntelPT {
			f.auxInfo.PT = &perfdata.IntelPT{}
		}
		for _, cpu := range c.streams {
			f.Streams = append(f.Streams, &stream.Stream{CPU: cpu})
		}
		untraced(f, &cfg, "rec+0x0")
		said := ""
		for _, w := range f.Warnings {
			said += w.What
		}
		if got := strings.HasPrefix(said, "rec+0x0: AUXTRACE: 0 records of CPU 1, need 1: AUX records tell of 10 bytes "); got != c.want || !got && said != "" {
			t.Errorf("%s: said %q", c.what, said)
		}
	}
}
