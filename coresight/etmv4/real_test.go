package etmv4

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/coresight"
)

// realStream is one trace source's bytes in a recorded snapshot.
type realStream struct {
	name   string // snapshot/source
	config coresight.Config
	buf    []byte
}

// recordedStreams returns the ETMv4 and ETE streams of the recorded snapshots,
// or skips the test.
func recordedStreams(t testing.TB) (streams []realStream) {
	t.Helper()
	dir := os.Getenv("PTDECODE_DATA")
	if dir == "" {
		t.Skip("PTDECODE_DATA is not set: no recordings")
	}
	snaps, err := filepath.Glob(filepath.Join(dir, "coresight/snapshots/*/trace.ini"))
	if err != nil || len(snaps) == 0 {
		t.Fatalf("no snapshot in %s (%v)", dir, err)
	}
	for _, trace := range snaps {
		streams = append(streams, snapshotStreams(t, filepath.Dir(trace))...)
	}
	return streams
}

// iniFile returns the keys of an ini file by section, as far as these tests need
// them.
func iniFile(t testing.TB, file string) map[string]map[string]string {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	ini := map[string]map[string]string{}
	section := ""
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			section = strings.Trim(line, "[]")
			ini[section] = map[string]string{}
		}
		if key, value, ok := strings.Cut(line, "="); ok && section != "" {
			key, _, _ = strings.Cut(key, "(")
			ini[section][strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	return ini
}

func snapshotStreams(t testing.TB, dir string) (streams []realStream) {
	devices := map[string]map[string]map[string]string{}
	files, _ := filepath.Glob(filepath.Join(dir, "*.ini"))
	for _, f := range files {
		ini := iniFile(t, f)
		devices[ini["device"]["name"]] = ini
	}
	trace := iniFile(t, filepath.Join(dir, "trace.ini"))
	core := map[string]string{} // by source
	for c, s := range trace["core_trace_sources"] {
		core[s] = c
	}
	for section, b := range trace {
		if b["file"] == "" {
			continue
		}
		buf, err := os.ReadFile(filepath.Join(dir, b["file"]))
		if err != nil {
			t.Fatal(err)
		}
		byID := map[uint8][]byte{}
		if b["format"] != "source_data" {
			format := coresight.FormatMemory
			if b["format"] == "dstream_coresight" {
				format = coresight.FormatPort
			}
			for _, s := range coresight.Deframe(format, buf).Streams() {
				byID[s.ID] = s.Data
			}
		}
		for source, buffer := range trace["source_buffers"] {
			c, ok := sourceConfig(devices[source], devices[core[source]])
			if buffer != b["name"] || !ok {
				continue
			}
			data := buf
			if b["format"] != "source_data" {
				data = byID[c.ID]
			}
			streams = append(streams, realStream{filepath.Base(dir) + "/" + section + "/" + source, c, data})
		}
	}
	slices.SortFunc(streams, func(a, b realStream) int { return strings.Compare(a.name, b.name) })
	return streams
}

// sourceConfig returns the configuration of an ETMv4 or ETE.
func sourceConfig(device, core map[string]map[string]string) (c coresight.Config, ok bool) {
	switch t, _, _ := strings.Cut(device["device"]["type"], "."); t {
	case "ETM4":
		c.Protocol = coresight.ETMv4
	case "ETE":
		c.Protocol = coresight.ETE
	default:
		return c, false
	}
	reg := func(name string) uint32 {
		v, _ := strconv.ParseUint(device["regs"]["TRC"+name], 0, 32)
		return uint32(v)
	}
	c.V4 = coresight.ETMv4Registers{
		CONFIGR: reg("CONFIGR"), TRACEIDR: reg("TRACEIDR"), IDR0: reg("IDR0"), IDR1: reg("IDR1"), IDR2: reg("IDR2"),
		IDR8: reg("IDR8"), DEVARCH: reg("DEVARCH"),
	}
	c.ID = c.ConfiguredID()
	c.Arch, _ = coresight.ArchOf(core["device"]["type"])
	return c, true
}

// Catches what real trace units send and the tests above do not think of:
// every packet's bytes come back, and none is bad but where the recording is
// cut.
func TestRecordedPackets(t *testing.T) {
	total, packets := 0, 0
	for _, s := range recordedStreams(t) {
		if out := reencode(t, s.config, s.buf); !bytes.Equal(out, s.buf) {
			t.Errorf("%s: %d bytes come back as %d others", s.name, len(s.buf), len(out))
		}
		first, _ := FindSync(s.buf, 0)
		var bad []Packet
		l := NewLexer(s.config, s.buf[first:], int64(first))
		for p := range l.All() {
			packets++
			if p.Kind == Bad {
				bad = append(bad, p)
			}
		}
		total += len(s.buf)
		if len(bad) > 0 {
			t.Logf("%s: %d bad, first at %#x of %#x: %v", s.name, len(bad), bad[0].Off, len(s.buf), bad[0])
		}
	}
	t.Logf("%d packets in %d bytes", packets, total)
}
