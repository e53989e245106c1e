package decoder

import (
	"debug/elf"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// patchSymbols are the kernel's of which breakpoints are set here.
const patchSymbols = `ffff800080000000 T _text
ffff800080001000 t site
ffff800080010000 t __aarch64_insn_write
ffff800080010100 T aarch64_insn_write_literal_u64
ffff800080010200 T caches_clean_inval_pou
ffff800080010300 T aarch64_insn_patch_text_nosync
ffff800080010400 t aarch64_insn_patch_text_cb
ffff800080010500 T kick_all_cpus_sync
ffff800080010600 T aarch64_insn_copy
ffff800080010700 T aarch64_insn_set
ffff800080010800 T text_poke_bp
ffff800080010900 T after
ffff800080010a00 T aarch64_insn_write.isra.0
ffff800080010b00 T __flush_icache_range
ffff800080010c00 T behind
`

// TestPatches would catch samples of patchers that are joined wrongly: which belong to
// one change, when it began, when it was done and when all CPUs had it. A line is
// "TIME TID WHERE X0 X1 [X2]"; threads run on CPU 0, those from 100 on on CPU 1.
func TestPatches(t *testing.T) {
	at := map[string]uint64{
		"write": 0x10000, "literal": 0x10100, "caches": 0x10200, "back": 0x10348, "kick": 0x10500, "copy": 0x10600, "set": 0x10700, "other": 0x1000,
		"outer": 0x10a00, "flush": 0x10b00, "entry": 0x10300,
	}
	for _, c := range []struct{ name, samples, want string }{
		{"the thread's next change ends one, settle the last", `
			1000 7 write 1000 14000004
			2000 7 caches 1000 1004
			9000 7 write 1010 14000004`,
			`1000 1f2003d5>04000014 atomic 1000 9000 1009000
			1010 1f2003d5>04000014 atomic 9000 1009000 2009000`},
		{"the quickest change is the measure of others", `
			1000 7 write 1000 14000004
			2000 7 caches 1000 1004
			9000 7 write 1010 14000004
			9500 7 caches 1010 1014
			800000 7 write 1000 d503201f
			801000 7 caches 1000 1004`,
			`1000 1f2003d5>04000014 atomic 1000 9000 1009000
			1010 1f2003d5>04000014 atomic 9000 16500 1016500
			1000 04000014>1f2003d5 atomic 800000 808000 1808000`},
		{"another thread on the CPU may have kept it", `
			1000 7 write 1000 14000004
			2000 7 caches 1000 1004
			9000 7 write 1010 14000004
			9500 7 caches 1010 1014
			10000 8 other 0 0
			800000 7 write 1000 d503201f`,
			`1000 1f2003d5>04000014 atomic 1000 9000 1009000
			1010 1f2003d5>04000014 atomic 9000 800000 1800000
			1000 04000014>1f2003d5 atomic 800000 1800000 2800000`},
		{"a breakpoint that is hit again", `
			1000 7 write 1000 14000004
			5000 7 write 1000 14000004
			6000 7 caches 1000 1004
			7000 7 back 0 0`,
			`1000 1f2003d5>04000014 atomic 1000 7000 1007000`},
		{"interrupts that last longer than settle, before each step", `
			1000 7 write 1000 14000004
			5000000 7 other 0 0
			9001000 7 write 1000 14000004
			15000000 7 other 0 0
			19002000 7 caches 1000 1004
			25000000 7 other 0 0
			29003000 7 back 0 0`,
			`1000 1f2003d5>04000014 atomic 1000 29003000 30003000`},
		{"a literal that is announced again behind an interrupt", `
			1000 7 literal 1008 1122334455667788
			5000000 7 other 0 0
			9001000 7 literal 1008 1122334455667788
			9002000 7 write 1010 14000004`,
			`1008 1f2003d51f2003d5>8877665544332211 atomic 1000 9002000 10002000
			1010 1f2003d5>04000014 atomic 9002000 10002000 11002000`},
		{"what is done is exact behind the caches", `
			1000 7 write 1000 14000004
			2000 7 caches 1000 1004
			3000 7 back 0 0
			3500 7 write 1010 14000004
			4000 7 caches 1010 1014
			5700 7 back 0 0`,
			`1000 1f2003d5>04000014 atomic 1000 3000 1003000
			1010 1f2003d5>04000014 atomic 3500 5700 1005700`},
		{"two threads, and caches of another place", `
			1000 7 write 1000 14000004
			1500 107 write 1010 14000004
			1600 107 caches 1000 1004
			1700 7 caches 1000 1004
			1800 107 caches 1010 1014
			1900 107 back 0 0
			2000 7 back 0 0`,
			`1000 1f2003d5>04000014 atomic 1000 2000 1002000
			1010 1f2003d5>04000014 atomic 1500 2000 1001900`},
		{"stopped", `
			1000 7 write 1000 d4200080 stop
			2000 7 caches 1000 1004
			3000 7 back 0 0`,
			`1000 1f2003d5>800020d4 stop_machine 1000 3000 3000`},
		{"a slot, and its second use", `
			1000 7 write 900000 d503233f
			2000 7 write 900004 d42000c0
			3000 7 write 900000 d503201f
			4000 7 write 900004 d42000c0`,
			`900000 >3f2303d5 slot 1000 1000 1000
			900004 >c00020d4 slot 2000 2000 2000
			900000 3f2303d5>1f2003d5 atomic 3000 4000 1004000
			900004 c00020d4>c00020d4 atomic 4000 1004000 2004000`},
		{"kicked", `
			1000 7 write 1000 14000004
			2000 7 caches 1000 1004
			4000 7 kick 0 0`,
			`1000 1f2003d5>04000014 atomic 1000 4000 1004000`},
		{"a literal", `
			1000 7 literal 1008 1122334455667788
			1500 7 write 1010 14000004`,
			`1008 1f2003d51f2003d5>8877665544332211 atomic 1000 1500 1001500
			1010 1f2003d5>04000014 atomic 1500 1001500 2001500`},
		{"a word of which the sample was lost", `
			1000 7 write 1000 14000004
			2000 7 caches 1000 1004
			3000 7 back 0 0
			4000 7 caches 1010 1014
			5000 7 back 0 0
			6000 7 caches 1000 1004`,
			`1000 >04000014 atomic 1000 3000 1003000
			1010 >? unsafe 3000 5000 1005000
			1000 04000014>? unsafe 5000 1006000 2006000`},
		{"caches of a change, once more behind an interrupt", `
			1000 7 write 1000 14000004
			2000 7 caches 1000 1004
			9000000 7 caches 1000 1004`,
			`1000 1f2003d5>04000014 atomic 1000 1002000 2002000`},
		{"a kernel without __aarch64_insn_write", `
			1000 7 entry 1000 14000004
			1100 7 outer 1000 14000004
			2000 7 flush 1000 1004
			3000 7 back 0 0
			4000 7 entry 1000 d4200080 stop
			5000 7 flush 1000 1004
			6000 7 back 0 0`,
			`1000 1f2003d5>04000014 atomic 1000 3000 1003000
			1000 04000014>800020d4 stop_machine 4000 6000 6000`},
		{"filled, and copied", `
			1000 7 set 1000 d503201f 8
			2000 7 copy 1020 0 10
			3000 7 write 1020 14000004`,
			`1000 >1f2003d51f2003d5 unsafe 1000 2000 1002000
			1020 >? unsafe 2000 3000 1003000
			1020 >04000014 atomic 3000 1003000 2003000`},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &perfWriter{}
			names := []string{"write", "literal", "caches", "kick", "copy", "set", "other"}
			for _, name := range []string{"back", "outer", "flush", "entry"} {
				if strings.Contains(c.samples, " "+name+" ") {
					names = append(names, name)
				}
			}
			for i, name := range names {
				w.breakpoint(0xffff800080000000+at[name], 1|1<<1|1<<2|1<<30, uint64(10+i))
			}
			for line := range strings.Lines(strings.TrimSpace(c.samples)) {
				var time uint64
				var tid int32
				var x [3]uint64
				var name string
				words := strings.Fields(line)
				fmt.Sscan(strings.Join(words[:3], " "), &time, &tid, &name)
				lr := uint64(0xffff800080010320)
				for i, word := range words[3:] {
					if word == "stop" {
						lr += 0x100
					} else if _, err := fmt.Sscanf(word, "%x", &x[i]); err != nil {
						t.Fatalf("%q: %v", line, err)
					}
				}
				if name != "kick" && name != "back" && name != "other" {
					x[0] += 0xffff800080000000
				}
				if name == "caches" || name == "flush" {
					x[1] += 0xffff800080000000
				}
				id := uint64(10 + slices.Index(names, name))
				w.record(9, id, 0xffff800080000000+at[name], tid, tid, time, uint32(tid/100), uint32(0), uint64(2), x[0], x[1], x[2], lr)
			}
			s := opened(t, patchCall(t, w.write(t)))
			var got []string
			for p := range s.Pokes() {
				what := fmt.Sprintf("%x", p.New)
				if p.New == nil {
					what = "?"
				}
				got = append(got, fmt.Sprintf("%x %x>%s %v %d %d %d", p.Addr-0xffff800080000000, p.Old, what, p.Scheme, p.Begin, p.Time, p.End))
			}
			if want := strings.ReplaceAll(c.want, "\t", ""); strings.Join(got, "\n") != want {
				t.Errorf("have\n%s\nwant\n%s", strings.Join(got, "\n"), want)
			}
		})
	}
}

// patchCall is the call for a recording of a kernel whose code is NOPs.
func patchCall(t *testing.T, rec string) Config {
	t.Helper()
	write := folder(t)
	text := write("text", strings.Repeat(string(nopA64), 0x3000))
	return Config{Recording: rec, Kallsyms: write("kallsyms", patchSymbols), Code: []CodeFile{{Path: text, Addr: 0xffff800080000000}}}
}

// TestCopiedBefore would catch old code that is not taken from perf's own copy of the kernel,
// made before the breakpoints recorded. It would also catch old code taken from any other
// copy: nobody knows when that was made.
func TestCopiedBefore(t *testing.T) {
	const base = 0xffff800080000000
	text := strings.Repeat(string(nopA64), 0x3000)
	head := bin(elf.Header64{
		Ident: [16]byte{0x7f, 'E', 'L', 'F', 2, 1, 1}, Type: uint16(elf.ET_CORE), Machine: uint16(elf.EM_AARCH64), Version: 1,
		Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: 1,
	}, elf.Prog64{Type: uint32(elf.PT_LOAD), Flags: 5, Off: 4096, Vaddr: base, Filesz: uint64(len(text)), Memsz: uint64(len(text))})
	core := string(append(head, make([]byte, 4096-len(head))...)) + text
	for _, c := range []struct {
		name       string
		own, waits bool
		want       string
	}{
		{"perf's own copy", true, true, "1f2003d5 04000014 04000014"},
		{"a copy from elsewhere", false, true, " 04000014 04000014"},
		{"breakpoints that recorded at once", true, false, " 04000014 04000014"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, write := &perfWriter{}, folder(t)
			w.breakpoint(base+0x10000, 1|1<<1|1<<2|1<<30, 10)
			if c.waits {
				w.attrs[0][40] |= 1 // disabled
			}
			for i, word := range []uint64{0x14000004, 0x14000004, 0xd503201f} {
				time := uint64(10_000_000 * (i + 1))
				w.record(9, uint64(10), uint64(base+0x10000), int32(7), int32(7), time, uint32(0), uint32(0), uint64(2), uint64(base+0x1000), word, uint64(0), uint64(base+0x10320))
			}
			rec := filepath.Dir(write("perf.data/data", string(w.bytes())))
			call := Config{Recording: rec, Kallsyms: write("kallsyms", patchSymbols)}
			if c.own {
				write("perf.data/kcore_dir/kcore", core)
			} else {
				call.Kcore = write("kcore", core)
			}
			var got []string
			for p := range opened(t, call).Pokes() {
				got = append(got, fmt.Sprintf("%x", p.Old))
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("have %q, want %q", got, c.want)
			}
		})
	}
}

// TestOldProbe would catch the samples of a probe of x86's patcher before v5.8 that are
// not pokes: NOP to JMP by the trap, and a kprobe's one byte.
func TestOldProbe(t *testing.T) {
	w := &perfWriter{}
	w.script(t, []byte(`[000] 1.000001000: txt:poke: (ffff800080010800) addr=0xffffffff81000100 len=0x5 new=0xaabbcc00000010e9
[000] 1.000009000: txt:poked: (ffff800080010800 <- ffff800080010900)
[000] 1.000010000: txt:poke: (ffff800080010800) addr=0xffffffff81000200 len=0x1 new=0xcc
`))
	s := opened(t, patchCall(t, w.write(t)))
	var got []string
	for p := range s.Pokes() {
		got = append(got, fmt.Sprintf("%x %x %v %d %d", p.Addr, p.New, p.Scheme, p.Begin, p.Time))
	}
	if want := "[ffffffff81000100 e910000000 bp 1000001000 1000009000 ffffffff81000200 cc kprobe 1000010000 1001010000]"; fmt.Sprint(got) != want {
		t.Errorf("have %v\nwant %s", got, want)
	}
}

// TestThrottled would catch code that is said to be known while the kernel had put a
// breakpoint off. A change to a site with samples before and behind may be missing.
func TestThrottled(t *testing.T) {
	const id, site = 10, 0xffff800080001000
	w := &perfWriter{}
	w.breakpoint(0xffff800080010000, 1|1<<1, id)
	for _, time := range []uint64{1e9, 3e9, 5e9} {
		if time == 3e9 {
			w.record(5, uint64(time), uint64(id), uint64(id), w.who(7, time, 0, id))
			w.record(6, uint64(time+1e9), uint64(id), uint64(id), w.who(7, time+1e9, 0, id))
			continue
		}
		w.record(9, uint64(id), uint64(0xffff800080010000), int32(7), int32(7), time, uint32(0), uint32(0), uint64(2), uint64(site), uint64(0x14000004))
	}
	w.record(5, uint64(7e9), uint64(id), uint64(id), w.who(7, 7e9, 0, id))
	s := opened(t, patchCall(t, w.write(t)))
	var got []string
	for _, l := range s.Text().Losses() {
		got = append(got, fmt.Sprint(l.Lo, "-", l.Hi, " ", l.Sites))
	}
	if want := "3000000000-4000000000 1, 7000000000-18446744073709551615 1"; strings.Join(got, ", ") != want {
		t.Errorf("have %s, want %s", strings.Join(got, ", "), want)
	}
	for time, known := range map[uint64]bool{2e9: true, 3.5e9: false, 6e9: true, 8e9: false} {
		var b [4]byte
		if n := s.Code(b[:], 0, site, s.EpochAt(time)); (n == 4) != known {
			t.Errorf("at %d: %d bytes known", time, n)
		}
	}
}

// TestLostAtEnd would catch code that is said to be known behind the last sample of a CPU that
// then lost some. No LOST record tells of those, only a count in the end.
func TestLostAtEnd(t *testing.T) {
	const id, site = 10, 0xffff800080001000
	for _, c := range []struct {
		name    string
		lost    uint64 // by LOST records, on CPU 0
		counted uint64 // by LOST_SAMPLES
		index   bool   // an ID_INDEX says whose events they are
		known   bool
	}{
		{"none", 0, 0, true, true},
		{"at the end", 0, 3, true, false},
		{"at the end, of a CPU that is not said", 0, 3, false, false},
		{"before another record", 3, 3, true, true},
		{"before another record, and at the end", 3, 4, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &perfWriter{}
			w.breakpoint(0xffff800080010000, 1|1<<1, id)
			if c.index {
				w.record(69, uint64(1), uint64(id), uint64(0), uint64(0), ^uint64(0))
			}
			if c.counted > 0 {
				w.record(13, c.counted, w.who(0, 0, 0, id))
			}
			if c.lost > 0 {
				w.record(2, uint64(id), c.lost, w.who(7, 1e8, 0, id))
			}
			w.record(9, uint64(id), uint64(0xffff800080010000), int32(7), int32(7), uint64(1e9), uint32(0), uint32(0), uint64(2), uint64(site), uint64(0x14000004))
			s := opened(t, patchCall(t, w.write(t)))
			var b [4]byte
			if n := s.Code(b[:], 0, site, s.EpochAt(3e9)); (n == 4) != c.known {
				t.Errorf("%d bytes known, losses %v", n, s.Text().Losses())
			}
		})
	}
}
