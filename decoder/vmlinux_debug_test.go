package decoder

import (
	"context"
	"fmt"
	"github.com/ptdecode/ptdecode/decoder/internal/buildtime"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func TestVmlinuxDebug(t *testing.T) {
	tables := readSiteTables(t)
	for _, name := range []string{"kprobes", "ftrace", "tracepoints-coarse", "nomitig-late"} {
		if only := os.Getenv("ONLY"); only != "" && only != name {
			continue
		}
		o := readOriginal(t, name, tables)
		start := time.Now()
		s, err := Open(Config{Recording: filepath.Join(dataDir(t), "kernel-pokes-x86", name, "perf.data"), Kcore: tables.vmlinux})
		if err != nil {
			t.Fatal(err)
		}
		opened := time.Since(start)
		got := prints{}
		if err := s.Flow(context.Background(), Query{Jobs: 1}, got); err != nil {
			t.Error(err)
		}
		var c claimCount
		for i, ran := range o.ran {
			if got[i] == nil {
				got[i] = &printed{}
			}
			list := c.judge(got[i], ran)
			for k, u := range list {
				if k < 5 {
					t.Logf("untruth %+v %x", u, got[i].ips[max(0, u.from-3):min(u.from+5, len(got[i].ips))])
				}
			}
		}
		t.Logf("%s: open %v trials? claims %d wrong %d foreign %d ambiguous %d missing %d gaps %d executed %d", name, opened, c.claims, c.wrong, c.foreign, c.ambiguous, c.missing, c.gaps, c.executed)
		b := s.boot
		amb := map[buildtime.Choice]int{}
		s.Flow(context.Background(), Query{Jobs: 1}, sinkFunc(func(x *Batch) error {
			for i := range x.Ranges {
				r := &x.Ranges[i]
				if r.Verdict != Ambiguous {
					continue
				}
				gs := b.kernel.Within(nil, r.Block.Addr-b.shift, r.End()-b.shift)
				any := false
				for _, g := range gs {
					for _, c := range g.Choices {
						if b.settled[c] == "" && b.matters(g, c) {
							amb[c] += int(r.N)
							any = true
						}
					}
				}
				if !any {
					amb[buildtime.Choice{Kind: 3, ID: 99}] += int(r.N)
				}
			}
			return nil
		}))
		tot := map[string]int{}
		s.Flow(context.Background(), Query{Jobs: 1}, sinkFunc(func(x *Batch) error {
			for i := range x.Ranges {
				r := &x.Ranges[i]
				if r.Verdict != Ambiguous {
					continue
				}
				sym, _, _, _ := s.Symbol(0, r.Block.Addr, 0)
				tot[fmt.Sprintf("%s %x-%x", sym, r.Block.Addr-b.shift, r.End()-b.shift)] += int(r.N)
			}
			return nil
		}))
		keys := slices.SortedFunc(maps.Keys(tot), func(a, b string) int { return tot[b] - tot[a] })
		for _, k := range keys[:min(25, len(keys))] {
			t.Logf("WHERE %s %d", k, tot[k])
		}
		for c, n := range amb {
			if n > 300 {
				t.Logf("AMB %v %d=%x: %d; value %d", c.Kind, c.ID, c.ID, n, b.state.Get(c))
			}
		}
		t.Logf("shift %x doubts %d settled %d", b.shift, len(b.doubts), len(b.settled))
		for _, c := range b.kernel.Choices() {
			if b.state.Get(c) != 0 || b.settled[c] != "" && c.Kind != 1 && c.Kind != 2 {
				t.Logf("  %v %d=%x: %d settled %q", c.Kind, c.ID, c.ID, b.state.Get(c), b.settled[c])
			}
		}
		s.Close()
	}
}
