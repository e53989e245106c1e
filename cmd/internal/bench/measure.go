package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// sample is what one measurement of one side gave. What it does not tell is 0.
type sample struct {
	rate      float64 // what a driver or a benchmark printed, mostly MB per CPU second
	cpu, wall float64 // s, of the whole process
	peak      float64 // MiB
}

// side is one of those that take turns.
type side struct {
	name    string
	crashes bool // a signal at its end is no failure
	measure func() (sample, error)
}

// errMissing is a peer or an input that is not there.
var errMissing = errors.New("not there")

// process is a side that runs a command as often as is said, with its output in a file of its own.
func (p *place) process(name string, times int, cmd ...string) *side {
	x := &side{name: name}
	x.measure = func() (sample, error) {
		var sum sample
		for range times {
			s, err := p.once(context.Background(), cmd)
			if end := (*exec.ExitError)(nil); err != nil && !(x.crashes && errors.As(err, &end) && end.ExitCode() < 0) {
				return sum, err
			}
			sum.cpu, sum.wall, sum.peak = sum.cpu+s.cpu, sum.wall+s.wall, max(sum.peak, s.peak)
		}
		return sum, nil
	}
	return x
}

// bounded is a side that runs a command, and ends it after p.limit. It writes to the null device.
func (p *place) bounded(name string, cmd ...string) *side {
	return &side{name: name, measure: func() (sample, error) {
		if p.big == "" {
			return sample{}, fmt.Errorf("PTDECODE_BIG is not set: %w", errMissing)
		}
		ctx, cancel := context.WithTimeout(context.Background(), p.limit)
		defer cancel()
		return p.once(ctx, cmd)
	}}
}

// once runs a command. That ctx ends it is no error.
func (p *place) once(ctx context.Context, cmd []string) (s sample, err error) {
	if cmd[0] == "" {
		return s, errMissing
	}
	c := exec.CommandContext(ctx, cmd[0], cmd[1:]...)
	c.Dir = p.tmp // where OpenCSD writes, whatever it is told
	if _, bound := ctx.Deadline(); !bound {
		out, err := os.Create(p.made("output"))
		if err != nil {
			return s, err
		}
		defer os.Remove(out.Name())
		defer out.Close()
		c.Stdout = out
	}
	from := time.Now()
	err = c.Run()
	if c.ProcessState == nil {
		return s, err
	}
	s.wall = time.Since(from).Seconds()
	s.cpu = (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds()
	s.peak = peakOf(c.ProcessState)
	if ctx.Err() != nil {
		err = nil
	}
	return s, err
}

// firstLine is a side that waits for the first line that a command prints, and ends it.
func (p *place) firstLine(name string, cmd ...string) *side {
	return &side{name: name, measure: func() (s sample, err error) {
		if p.big == "" {
			return s, fmt.Errorf("PTDECODE_BIG is not set: %w", errMissing)
		}
		c := exec.Command(cmd[0], cmd[1:]...)
		out, err := c.StdoutPipe()
		if err != nil {
			return s, err
		}
		from := time.Now()
		if err := c.Start(); err != nil {
			return s, err
		}
		_, err = bufio.NewReader(out).ReadSlice('\n')
		s.wall = time.Since(from).Seconds()
		if kill := c.Process.Kill(); err == nil {
			err = kill
		}
		c.Wait() // it was killed: its error says that
		s.cpu = (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds()
		return s, err
	}}
}

// driver is a peer under PTDECODE_PEERS.
func (p *place) driver(name, trace, text string) *side {
	return &side{name: name, measure: func() (s sample, err error) {
		if p.peers == "" {
			return s, fmt.Errorf("PTDECODE_PEERS is not set: %w", errMissing)
		}
		path := filepath.Join(p.peers, name)
		if _, err := os.Stat(path); err != nil {
			return s, fmt.Errorf("not in PTDECODE_PEERS: %w", errMissing)
		}
		out, err := exec.Command(path, trace, text, strconv.Itoa(roundsOf(trace))).Output()
		if err != nil {
			return s, err
		}
		s.rate, err = strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
		return s, err
	}}
}

// roundsOf is how many rounds a file is measured for: more of a short one, so that the best is met between neighbours.
func roundsOf(trace string) int {
	info, err := os.Stat(trace)
	if err != nil {
		return 1
	}
	return rounds(info.Size())
}

// rounds is roundsOf for a file of n bytes.
func rounds(n int64) int { return int(max(5, min(200, 40<<20/max(n, 1)))) }

// benchmark is a Go benchmark of the package decoder; metric names what it reports.
func (p *place) benchmark(name, metric string, n int) *side {
	var parts []string
	for part := range strings.SplitSeq(name, "/") {
		parts = append(parts, "^"+part+"$")
	}
	parts[0] = "^Benchmark" + parts[0][1:]
	return &side{name: "ptdecode", measure: func() (s sample, err error) {
		c := exec.Command(p.made("decoder.test"), "-test.run", "^$", "-test.bench", strings.Join(parts, "/"), "-test.benchtime", strconv.Itoa(n)+"x", "-test.cpu", "1")
		c.Dir = p.tmp
		out, err := c.Output()
		if err != nil {
			return s, err
		}
		s.rate, err = metricIn(out, metric)
		return s, err
	}}
}

// metricIn finds what a benchmark reports: the number before the metric's name.
func metricIn(out []byte, metric string) (float64, error) {
	for line := range bytes.Lines(out) {
		f := strings.Fields(string(line))
		for i := 1; i < len(f); i++ {
			if f[i] == metric {
				return strconv.ParseFloat(f[i-1], 64)
			}
		}
	}
	return 0, fmt.Errorf("no benchmark reports %s: %w", metric, errMissing)
}

// workers is a side that compares what a second worker gives with what the machine gives to a second program.
func (p *place) workers(name string, cmd ...string) *side {
	return &side{name: name, measure: func() (s sample, err error) {
		one, err := p.once(context.Background(), append(cmd, "-j", "1"))
		if err != nil {
			return s, err
		}
		two, err := p.once(context.Background(), append(cmd, "-j", "2"))
		if err != nil {
			return s, err
		}
		alone, err := copies(1)
		if err != nil {
			return s, err
		}
		both, err := copies(2)
		s.rate = secondWorker(one.wall, two.wall, alone, both)
		return s, err
	}}
}

// secondWorker is what two workers gain over what two copies of a program gain: s of one worker, two workers, one copy
// and two copies at once.
func secondWorker(one, two, alone, both float64) float64 { return one / two / (2 * alone / both) }

const spinArg = "-spin"

// copies runs n programs at once that only count, and returns how long they take together, s.
func copies(n int) (float64, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	from := time.Now()
	var all []*exec.Cmd
	for range n {
		c := exec.Command(self, spinArg)
		if err := c.Start(); err != nil {
			return 0, err
		}
		all = append(all, c)
	}
	for _, c := range all {
		if err := c.Wait(); err != nil {
			return 0, err
		}
	}
	return time.Since(from).Seconds(), nil
}

// spin keeps one CPU busy for about a second.
func spin() {
	runtime.GOMAXPROCS(1)
	x := uint64(1)
	for range 1_000_000_000 {
		x = x*6364136223846793005 + 1442695040888963407
	}
	fmt.Fprintln(io.Discard, x)
}
