package perfdata

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// perfTool finds perf; the test skips without it.
func perfTool(t testing.TB) string {
	t.Helper()
	p, err := exec.LookPath("perf")
	if err != nil {
		t.Skip("perf is not installed: nothing to record with or to compare to")
	}
	return p
}

// dump is perf script -D over a recording.
func dump(t testing.TB, path string) []byte {
	t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	cmd := exec.CommandContext(ctx, perfTool(t), "script", "-D", "-f", "-i", path)
	cmd.Env = append(os.Environ(), "PAGER=cat", "HOME="+t.TempDir())
	out, err := cmd.Output()
	if err != nil {
		t.Logf("perf script -D -i %s: %v", path, err)
	}
	return out
}

// dumpLine is a record's line: CPU and time where it has them, the offset in
// the file, the size and the type.
var dumpLine = regexp.MustCompile(`(?m)^(?:(-?\d+) )??(?:(-?\d+) )?(?:0x[0-9a-f]+|0) \[0x[0-9a-f]+\]: PERF_RECORD_([A-Z_0-9]+)`)

// dumped counts the records of a dump by type as perf names them.
func dumped(out []byte) map[string]uint64 {
	n := map[string]uint64{}
	for _, m := range dumpLine.FindAllSubmatch(out, -1) {
		n[string(m[3])]++
	}
	return n
}

// counted is the same from a Recording, without the COMPRESSED records, which
// perf does not list.
func counted(r *Recording) map[string]uint64 {
	n := map[string]uint64{}
	for typ, k := range r.Counts() {
		if typ != TypeCompressed && typ != TypeCompressed2 {
			n[typ.String()] = k
		}
	}
	return n
}

// pokeText is how perf dumps a TEXT_POKE.
var pokeText = regexp.MustCompile(`(?m)^(-?\d+) (\d+) 0x[0-9a-f]+ \[0x[0-9a-f]+\]: PERF_RECORD_TEXT_POKE ([0-9a-f]+) .*old len (\d+) new len (\d+)
((?: +(?:Old bytes:|New bytes:|  )(?: [0-9a-f]{2})*\n?)*)`)

// hexBytes are the bytes in such a dump.
var hexBytes = regexp.MustCompile(`\b[0-9a-f]{2}\b`)

// TestAsPerf catches records of the real recordings that are skipped, doubled,
// misnamed or timed wrongly, and a TEXT_POKE's fields or place in the order
// differing from what perf reads.
func TestAsPerf(t *testing.T) {
	testsize.OnlyFull(t) // perf takes seconds for each
	list := kernelRecordings(t)
	for _, path := range list[:min(len(list), testsize.Of(t, 0, 2, len(list)))] {
		out := dump(t, path)
		r := open(t, path)
		if d := cmp.Diff(dumped(out), counted(r)); d != "" {
			t.Errorf("%s (-perf +here): %s", path, d)
		}
		checkTimes(t, r, out)
		var want, got []string
		for _, m := range pokeText.FindAllSubmatch(out, -1) {
			want = append(want, fmt.Sprintf("%s %s %s %s %s %s", m[1], m[2], m[3], m[4], m[5], bytes.Join(hexBytes.FindAll(m[6], -1), nil)))
		}
		for rec := range r.Records().All() {
			if rec.Type != TypeTextPoke {
				continue
			}
			p, err := rec.TextPoke()
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprintf("%d %d %x %d %d %x%x", rec.CPU, rec.Time, p.Addr, len(p.Old), len(p.New), p.Old, p.New))
		}
		if len(want) == 0 || !slices.Equal(want, got) {
			t.Errorf("%s: %d pokes by perf, %d here: %s", path, len(want), len(got), cmp.Diff(want, got))
		}
	}
}

// work is what is recorded: some processes, mappings and time in the kernel on
// any machine. It must not fail, or the test would skip.
const work = "for i in 1 2 3; do ls -lR /etc /dev; done >/dev/null 2>&1; :"

// TestLive catches what the encoder of the tests has wrong itself: recordings
// made now, of each kind that perf makes here, against perf's dump and header.
func TestLive(t *testing.T) {
	perf := perfTool(t)
	kinds := map[string][]string{
		"plain":      {"-e", "cpu-clock"},
		"zstd":       {"-e", "cpu-clock", "-z"},
		"events":     {"-e", "cpu-clock", "-e", "page-faults", "-d", "-g", "-W"},
		"threads":    {"-e", "cpu-clock", "--threads"},
		"system":     {"-e", "cpu-clock", "-a", "--namespaces", "--switch-events"},
		"clock":      {"-e", "task-clock:u", "-k", "monotonic", "--per-thread"},
		"no-time":    {"-e", "cpu-clock", "--no-timestamp"},
		"build-ids":  {"-e", "cpu-clock", "--buildid-mmap"},
		"stack":      {"-e", "cpu-clock", "--call-graph", "dwarf,1024", "--user-regs=ip,sp"},
		"data-page":  {"-e", "cpu-clock", "--phys-data", "--data-page-size", "--code-page-size"},
		"kcore":      {"-e", "cpu-clock", "--kcore"},
		"no-samples": {"-e", "dummy", "--all-cgroups"},
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		if !testsize.Full(t) && kind != "zstd" {
			continue // perf takes a second for each
		}
		t.Run(kind, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "perf.data")
			args := append(append([]string{"record", "-q"}, kinds[kind]...), "-o", path, "--", "sh", "-c", work)
			if out, err := exec.Command(perf, args...).CombinedOutput(); err != nil {
				t.Skipf("perf cannot record this here: %v: %s", err, bytes.TrimSpace(out))
			}
			r := open(t, path)
			sound(t, r)
			out := dump(t, path)
			want := dumped(out)
			if len(want) == 0 {
				t.Fatal("perf dumps nothing")
			}
			if d := cmp.Diff(want, counted(r)); d != "" {
				t.Errorf("(-perf +here): %s", d)
			}
			checkTimes(t, r, out)
			for rec := range r.Records().All() {
				if rec.Type == TypeSample {
					if _, err := rec.Sample(); err != nil {
						t.Fatal(err)
					}
				}
			}
			h := r.Header()
			if len(h.Cmdline) == 0 || h.Version == "" || h.Arch == "" || h.CPUsOnline == 0 || r.Attrs()[0].Name == "" {
				t.Errorf("header %+v, event %q", h, r.Attrs()[0].Name)
			}
			if kind == "zstd" && (r.Counts()[TypeCompressed]+r.Counts()[TypeCompressed2] == 0 || h.Compression == nil) {
				t.Errorf("no COMPRESSED records: %v", r.Counts())
			}
			if kind == "no-time" && !r.Hints().NoTime {
				t.Errorf("hints %+v", r.Hints())
			}
		})
	}
}

// checkTimes compares the (CPU, time) of each timed record with perf's dump.
func checkTimes(t *testing.T, r *Recording, out []byte) {
	t.Helper()
	want, got := map[string]int{}, map[string]int{}
	for _, m := range dumpLine.FindAllSubmatch(out, -1) {
		if ns, _ := strconv.ParseUint(string(m[2]), 10, 64); ns > 0 && ns != ^uint64(0) {
			want[string(m[3])+" "+string(m[2])]++
		}
	}
	var last uint64
	for rec := range r.Records().All() {
		if rec.HasTime() && rec.Time > 0 {
			got[rec.Type.String()+" "+fmt.Sprint(rec.Time)]++
			if rec.Time < last {
				t.Errorf("time %d after %d", rec.Time, last)
			}
			last = rec.Time
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("times (-perf +here): %s", d)
	}
}

// TestLivePipe catches a difference between a real pipe and what perf reads
// of the same bytes.
func TestLivePipe(t *testing.T) {
	testsize.OnlyFull(t)
	perf := perfTool(t)
	for _, extra := range [][]string{nil, {"-z"}} {
		args := append(append([]string{"record", "-q", "-e", "cpu-clock"}, extra...), "-o", "-", "--", "sh", "-c", work)
		cmd := exec.Command(perf, args...)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Skipf("perf does not start: %v", err)
		}
		path := filepath.Join(t.TempDir(), "pipe.data")
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		r, err := OpenPipe(io.TeeReader(out, f))
		f.Close()
		if werr := cmd.Wait(); werr != nil || err != nil {
			t.Skipf("perf cannot record into a pipe here: %v, %v", werr, err)
		}
		defer r.Close()
		t.Logf("%v: %v", extra, counted(r))
		want := dumped(dump(t, path))
		if d := cmp.Diff(want, counted(r)); d != "" {
			t.Errorf("%v (-perf +here): %s", extra, d)
		}
		if h := r.Header(); !h.Pipe || h.Version == "" || len(r.Attrs()) == 0 || !strings.Contains(strings.Join(h.Cmdline, " "), "perf") {
			t.Errorf("header %+v", h)
		}
	}
}

// TestLiveKilled catches a recording that perf record did not finish being
// read as empty.
func TestLiveKilled(t *testing.T) {
	perf := perfTool(t)
	path := filepath.Join(t.TempDir(), "perf.data")
	cmd := exec.Command(perf, "record", "-q", "-e", "cpu-clock", "-m", "4", "-o", path, "--", "sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; sleep 3")
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	defer cmd.Wait()
	// Let it write its header and the first records.
	for range 500 {
		time.Sleep(20 * time.Millisecond)
		if b, err := os.ReadFile(path); err == nil && len(b) > 1000 {
			break
		}
	}
	cmd.Process.Kill()
	r := open(t, path)
	found, _ := r.Trouble()
	if !r.Hints().Interrupted || len(found) == 0 || r.Counts()[TypeMmap]+r.Counts()[TypeMmap2] == 0 {
		t.Errorf("hints %+v, trouble %v, counts %v", r.Hints(), found, r.Counts())
	}
}
