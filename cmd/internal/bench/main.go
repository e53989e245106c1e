// Bench measures ptdecode beside its peers, in turns, and prints a table of ratios: each line is of one run.
//
// What it finds by environment:
//
//	PTDECODE_DATA     the folder of recordings; without it nothing can be measured
//	PTDECODE_PEERS    a folder with executables libipt-packets, libipt-blocks, libxdc-edges, libxdc-hot, libxdc-cold,
//	                  iptr-packets, iptr-blocks: each takes TRACE TEXT ROUNDS and prints its best MB per CPU second
//	PTDECODE_PERF     perf (default: the one on PATH)
//	PTDECODE_OPENCSD  OpenCSD's trc_pkt_lister
//	PTDECODE_BIG      raw Intel PT of 8 GiB; where no such file is, it is made there
//
// What is not there is "-" in the table, and a line below says what is missing.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"time"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == spinArg {
		spin()
		return
	}
	turns := flag.Int("turns", 5, "measure each side `N` times, in turns")
	only := flag.String("rows", ".", "measure the rows that match `REGEXP`")
	limit := flag.Duration("limit", time.Minute, "end what prints 8 GiB after this `TIME`")
	flag.Parse()
	if err := run(os.Stdout, *only, *turns, *limit); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run measures the rows that match only, and prints the table.
func run(out io.Writer, only string, turns int, limit time.Duration) error {
	match, err := regexp.Compile(only)
	if err != nil {
		return fmt.Errorf("-rows: %w", err)
	}
	data := os.Getenv("PTDECODE_DATA")
	if data == "" {
		return errors.New("PTDECODE_DATA is not set: give the folder of recordings")
	}
	tmp, err := os.MkdirTemp("", "ptdecode-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	p := &place{data: data, peers: os.Getenv("PTDECODE_PEERS"), opencsd: os.Getenv("PTDECODE_OPENCSD"), big: os.Getenv("PTDECODE_BIG"),
		perf: os.Getenv("PTDECODE_PERF"), tmp: tmp, limit: limit}
	if p.perf == "" {
		p.perf, _ = exec.LookPath("perf")
	}
	for _, name := range []*string{&p.data, &p.peers, &p.opencsd, &p.big, &p.perf} {
		if *name == "" {
			continue
		}
		if *name, err = filepath.Abs(*name); err != nil { // commands run elsewhere
			return err
		}
	}
	if err := p.build(); err != nil {
		return err
	}
	if err := p.inputs(); err != nil {
		return err
	}
	fmt.Fprintln(out, heading)
	var missing notes
	for _, r := range p.rows() {
		if !match.MatchString(r.work) {
			continue
		}
		for _, text := range r.lines(r.measure(turns, &missing)) {
			fmt.Fprintln(out, text)
		}
	}
	missing.print(out)
	return nil
}

// place is where everything is.
type place struct {
	data, peers, perf, opencsd, big string
	tmp                             string // a folder for what is made here
	limit                           time.Duration
}

// build makes the command and the benchmarks.
func (p *place) build() error {
	for _, args := range [][]string{
		{"build", "-trimpath", "-ldflags", "-s -w", "-o", p.made("ptdecode"), "./cmd/ptdecode"},
		{"test", "-c", "-o", p.made("decoder.test"), "./decoder"},
	} {
		c := exec.Command("go", args...)
		c.Env = append(os.Environ(), "CGO_ENABLED=0") // as releases are built
		c.Stderr = os.Stderr
		if err := c.Run(); err != nil {
			return fmt.Errorf("go %s: %w", args[0], err)
		}
	}
	return nil
}

// made returns the path of what is made here.
func (p *place) made(name string) string { return filepath.Join(p.tmp, name) }
