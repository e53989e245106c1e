package main

import (
	"encoding/json"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// object is a row of flow -o jsonl, as far as filters look at it.
type object struct {
	Type, Sym, DSO, Comm, Verdict, Flags, IP, Addr, Resume string
	AddrSym                                                string `json:"addr_sym"`
	AddrDSO                                                string `json:"addr_dso"`
	ResumeSym                                              string `json:"resume_sym"`
	Depth, TID                                             int
	Time, Until                                            uint64 // ns
	Poke                                                   *int
}

// objects runs flow with args and returns its lines but those of gaps and events, and what
// they hold.
func objects(t *testing.T, rec string, args ...string) (lines []string, list []object) {
	t.Helper()
	args = append([]string{"flow", rec, "-o", "jsonl", "--cpu", "1", "--allow-gaps"}, args...)
	out, errs, code := said(args...)
	if code != exitWhole {
		t.Fatalf("%q: exit code %d: %s", args, code, errs)
	}
	for line := range strings.Lines(out) {
		var o object
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if o.Type != "gap" && o.Type != "event" {
			lines, list = append(lines, line), append(list, o)
		}
	}
	return lines, list
}

// TestFiltersTwin would catch a filter that lets a row pass that was not asked for, or keeps
// back one that was. The twin filters all rows, by what is written in them.
func TestFiltersTwin(t *testing.T) {
	rec := filepath.Join(testsize.Recordings(t), "kernel-pokes-x86", "kprobes", "perf.data")
	leads := func(o *object, is func(sym, dso, addr string) bool) bool {
		return is(o.Sym, o.DSO, o.IP) || o.Type == "branch" && is(o.AddrSym, o.AddrDSO, o.Addr) ||
			o.Type == "trap" && is(o.ResumeSym, o.DSO, o.Resume)
	}
	glob := func(p, name string) bool { ok, _ := path.Match(p, name); return ok }
	type rows struct {
		lines []string
		list  []object
	}
	all := map[string]rows{}
	for _, level := range []string{"branch", "call"} {
		lines, list := objects(t, rec, "--level", level)
		all[level] = rows{lines, list}
	}
	type filter struct {
		level string
		args  []string
		wants func(o *object) bool
	}
	for _, x := range testsize.Some(t, []filter{
		{"branch", []string{"--sym", "vfs_*"}, func(o *object) bool {
			return leads(o, func(sym, _, _ string) bool { return glob("vfs_*", sym) })
		}},
		{"branch", []string{"--sym", "vfs_read", "--sym", "ksys_*"}, func(o *object) bool {
			return leads(o, func(sym, _, _ string) bool { return sym == "vfs_read" || glob("ksys_*", sym) })
		}},
		{"branch", []string{"--sym", "vfs_read-vfs_write"}, func(o *object) bool {
			return leads(o, func(_, _, addr string) bool { return addr >= "ffffffff909669e0" && addr < "ffffffff90967500" })
		}},
		{"branch", []string{"--comm", "h*,sh"}, func(o *object) bool { return glob("h*", o.Comm) || o.Comm == "sh" }},
		{"branch", []string{"--tid", "110-118,0"}, func(o *object) bool { return o.TID >= 110 && o.TID <= 118 || o.TID == 0 }},
		{"branch", []string{"--flags", "tr*,call"}, func(o *object) bool {
			return glob("tr*", o.Flags) || o.Flags == "call" || o.Type == "trap"
		}},
		{"branch", []string{"--verdict", "trace-ambiguous"}, func(o *object) bool { return o.Verdict != "certain" }},
		{"branch", []string{"--addr", "ffffffff906be3a0-ffffffff906be3c0"}, func(o *object) bool {
			return leads(o, func(_, _, addr string) bool { return addr >= "ffffffff906be3a0" && addr < "ffffffff906be3c0" })
		}},
		{"branch", []string{"--dso", "*kallsyms*"}, func(o *object) bool {
			return leads(o, func(_, dso, _ string) bool { return dso == "[kernel.kallsyms]" })
		}},
		{"branch", []string{"--poke", "380-385", "--flags", "trap"}, func(o *object) bool {
			return o.Poke != nil && *o.Poke >= 380 && *o.Poke <= 385
		}},
		{"branch", []string{"--time", "4.4177,4.42"}, func(o *object) bool { return o.Until >= 4_417_700_000 && o.Time <= 4_420_000_000 }},
		{"branch", []string{"--time", "4.42±100us"}, func(o *object) bool { return o.Until >= 4_419_900_000 && o.Time <= 4_420_100_000 }},
		{"call", []string{"--depth", "0,2-3"}, func(o *object) bool { return o.Depth == 0 || o.Depth == 2 || o.Depth == 3 }},
	}, 6) {
		args := append([]string{"--level", x.level}, x.args...)
		got, _ := objects(t, rec, args...)
		var want []string
		for i := range all[x.level].list {
			if x.wants(&all[x.level].list[i]) {
				want = append(want, all[x.level].lines[i])
			}
		}
		if len(want) == 0 || !slices.Equal(got, want) {
			t.Errorf("%q: %d rows, want %d, one at least", args, len(got), len(want))
			for i := range max(len(got), len(want)) {
				if i >= len(got) || i >= len(want) || got[i] != want[i] {
					t.Logf("row %d: %q\nwant %q", i, got[min(i, len(got)):min(i+1, len(got))], want[min(i, len(want)):min(i+1, len(want))])
					break
				}
			}
		}
		first, _ := objects(t, rec, append(args, "--first", "5")...)
		if !slices.Equal(first, want[:min(5, len(want))]) {
			t.Errorf("%q --first 5: %q", args, first)
		}
	}
}
