package decoder

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
	"github.com/ptdecode/ptdecode/pt"
)

// allJobs returns the jobs of a query, in the order in which they are delivered.
func allJobs(s *Session, q Query) (jobs []*job) {
	r := s.newRun(q)
	for ln := r.first(); ln != nil; ln = r.first() {
		jobs = append(jobs, ln.next)
		ln.next = ln.plan.next()
	}
	return jobs
}

// delivered is a Sink that counts the ranges that it is given, and does no more.
type delivered struct{ ranges uint64 }

func (d *delivered) Flow(b *flow.Batch) error {
	d.ranges += uint64(len(b.Ranges))
	return nil
}

// insns is a Sink that counts instructions.
type insns uint64

func (n *insns) Flow(b *flow.Batch) error {
	for i := range b.Ranges {
		*n += insns(b.Ranges[i].N)
	}
	return nil
}

// userProgram is the recording of a program under pt-user.
func userProgram(root, name string) Config {
	d := filepath.Join(root, "pt-user", name)
	return Config{Raw: []RawTrace{{Protocol: stream.IntelPT, CPU: 0, Path: filepath.Join(d, "cpu0.pt")}}, Kcore: filepath.Join(d, "text.core"), Model: pt.Model{Family: 6, Model: 94}}
}

// quickest runs once until b has enough, and reports the quickest round, in MB of trace
// a CPU second. What the neighbours of a shared machine take is in the other rounds.
func quickest(b *testing.B, bytes int64, once func()) {
	b.SetBytes(bytes)
	b.ReportAllocs()
	best := math.Inf(1) // seconds of CPU
	for b.Loop() {
		from := cpuSeconds()
		once()
		best = min(best, cpuSeconds()-from)
	}
	if best > 0 {
		b.ReportMetric(float64(bytes)/best/1e6, "best-MB/cpu-s")
	}
}

// BenchmarkIntelPTPackets measures packets read of qemu's trace, repeated to 64 MiB.
func BenchmarkIntelPTPackets(b *testing.B) {
	one, err := os.ReadFile(filepath.Join(dataDir(b), "pt-user", "qemu", "cpu0.pt"))
	if err != nil {
		b.Fatal(err)
	}
	buf := bytes.Repeat(one, 64<<20/len(one)+1)
	var l pt.Lexer
	q := make([]pt.Packet, 1024)
	quickest(b, int64(len(buf)), func() {
		l.Reset(buf, 0)
		for l.Fill(q) == len(q) {
		}
	})
}

// BenchmarkCold measures the first pass: each round begins with no block known.
func BenchmarkCold(b *testing.B) {
	eachProgram(b, func(b *testing.B, s *Session, jobs []*job, bytes int64) {
		var n delivered
		quickest(b, bytes, func() {
			fresh := *s.code.Load()
			fresh.caches = learner{s}.newCaches()
			f := newFollower(s, &fresh, s.streams[0])
			for _, j := range jobs {
				for i := range j.segs {
					if err := f.segment(j, i, &n); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	})
}

// eachProgram runs a benchmark for each of three programs of user space, whose trace is in
// jobs of so many bytes.
func eachProgram(b *testing.B, run func(b *testing.B, s *Session, jobs []*job, bytes int64)) {
	for _, name := range []string{"mruby", "qemu", "avscript_32"} {
		b.Run(name, func(b *testing.B) {
			s, err := Open(userProgram(dataDir(b), name))
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			jobs, bytes := allJobs(s, Query{}), int64(0)
			for _, j := range jobs {
				bytes += j.bytes()
			}
			run(b, s, jobs, bytes)
		})
	}
}

// BenchmarkEdges measures counting of what ran and what came next, with every block warm: the
// same trace again. What phrases counted as a whole is unfolded at the end, once: unfold-ms.
func BenchmarkEdges(b *testing.B) {
	eachProgram(b, func(b *testing.B, s *Session, jobs []*job, bytes int64) {
		f := newFollower(s, s.code.Load(), s.streams[0])
		var y flow.Tally
		once := func() {
			for _, j := range jobs {
				for i := range j.segs {
					if err := f.segment(j, i, &y); err != nil {
						b.Fatal(err)
					}
				}
			}
		}
		for range 3 { // blocks, then the paths between them
			once()
		}
		quickest(b, bytes, once)
		from, steps := cpuSeconds(), 0
		y.Each(func(flow.Step, uint64) { steps++ })
		b.ReportMetric((cpuSeconds()-from)*1e3, "unfold-ms")
		b.ReportMetric(float64(steps), "edges")
	})
}

// BenchmarkRanges measures ranges delivered in one goroutine with every block
// warm: bytes are bytes of trace.
func BenchmarkRanges(b *testing.B) {
	root := dataDir(b)
	for _, c := range []struct {
		name string
		cfg  Config
	}{
		{"mruby", userProgram(root, "mruby")}, {"qemu", userProgram(root, "qemu")}, {"avscript_32", userProgram(root, "avscript_32")}, {"unzip", userProgram(root, "unzip")},
		{"tracepoints", Config{Recording: filepath.Join(root, "kernel-pokes-x86", "tracepoints", "perf.data")}},
		{"tracepoints-coarse", Config{Recording: filepath.Join(root, "kernel-pokes-x86", "tracepoints-coarse", "perf.data")}},
		{"bugfix-exact-match", Config{Recording: filepath.Join(root, "coresight", "snapshots", "bugfix-exact-match")}}, // ETMv4, A64
		{"tc2-ptm-rstk-t32", Config{Recording: filepath.Join(root, "coresight", "snapshots", "tc2-ptm-rstk-t32")}},     // PTM, T32
		{"TC2", Config{Recording: filepath.Join(root, "coresight", "snapshots", "TC2")}},                               // ETMv3, PTM
	} {
		b.Run(c.name, func(b *testing.B) {
			s, err := Open(c.cfg)
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			followers := map[*stream.Stream]*follower{}
			var shared scratch // as a run's worker has
			for _, st := range s.streams {
				f := newFollower(s, s.code.Load(), st)
				flow.UsePaths(f.walker, shared.Of(s.reading(st)))
				followers[st] = f
			}
			jobs := allJobs(s, Query{})
			var n delivered
			var total insns
			var bytes int64
			once := func(to flow.Sink) {
				for _, j := range jobs {
					for i := range j.segs {
						if err := followers[j.stream].segment(j, i, to); err != nil {
							b.Fatal(err)
						}
					}
				}
			}
			for _, j := range jobs {
				bytes += j.bytes()
			}
			for range 3 { // blocks, then the paths between them
				total = 0
				once(&total)
			}
			b.SetBytes(bytes)
			b.ReportAllocs()
			b.ResetTimer()
			cpu := cpuSeconds()
			rounds := 0
			best := math.Inf(1) // seconds of CPU of the quickest round
			for b.Loop() {
				from := cpuSeconds()
				once(&n)
				best = min(best, cpuSeconds()-from)
				rounds++
			}
			if cpu = cpuSeconds() - cpu; cpu > 0 {
				b.ReportMetric(float64(bytes)*float64(rounds)/cpu/1e6, "MB/cpu-s")
			}
			if best > 0 {
				b.ReportMetric(float64(bytes)/best/1e6, "best-MB/cpu-s")
			}
			b.ReportMetric(float64(total)*float64(rounds)/b.Elapsed().Seconds()/1e6, "Minsn/s")
			b.ReportMetric(float64(n.ranges)/b.Elapsed().Seconds()/1e6, "Mranges/s")
		})
	}
}
