package main

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/ptdecode/ptdecode/cmd/internal/recorded"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/report"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// TestSummaryRan would catch instructions that are counted for the wrong function, or not
// at all, and functions that are entered without being counted. It compares with what CPUs
// of real recordings executed.
func TestSummaryRan(t *testing.T) {
	for _, name := range []string{"kprobes", "tracepoints-coarse", "ftrace"} {
		if !testsize.Full(t) && name != "kprobes" {
			continue
		}
		s, dir := recorded.Pokes(t, name)
		x, err := report.Summarise(context.Background(), s, decoder.Query{})
		if err != nil {
			t.Fatal(err)
		}
		type count struct{ instructions, entered uint64 }
		want := map[string]count{}
		total := uint64(0)
		for cpu := range 2 {
			for _, ip := range testsize.Executed(t, filepath.Join(dir, fmt.Sprintf("cpu%d.ips.zst", cpu))) {
				total++
				// Code that came and went is named by time; its names are not compared.
				if y, off, ok := s.Symbols().Lookup(ip, 0); ok && y.Module == "" {
					c := want[y.Name]
					c.instructions++
					if off == 0 {
						c.entered++
					}
					want[y.Name] = c
				}
			}
		}
		if x.Instructions != total {
			t.Errorf("%s: %d instructions, ran %d", name, x.Instructions, total)
		}
		got := map[string]count{}
		for _, f := range x.Functions {
			c := got[f.Symbol]
			got[f.Symbol] = count{c.instructions + f.Instructions, c.entered + f.Entered}
		}
		compared := 0
		for sym, c := range want {
			if compared++; got[sym] != c {
				t.Errorf("%s: %s: %+v, ran %+v", name, sym, got[sym], c)
			}
		}
		if compared < 500 {
			t.Errorf("%s: %d functions were compared: too few to tell", name, compared)
		}
	}
}
