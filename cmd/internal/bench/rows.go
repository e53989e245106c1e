package main

import "path/filepath"

// rows returns the table: what is measured, beside whom, and what is aimed at.
func (p *place) rows() (list []*row) {
	list = append(list, p.walks()...)
	list = append(list, p.kernel()...)
	list = append(list, p.snapshots()...)
	list = append(list, p.loads()...)
	return append(list, p.large()...)
}

// program returns the trace and the code of a recording of pt-user.
func (p *place) program(name string) (trace, text string) {
	d := filepath.Join(p.data, "pt-user", name)
	return filepath.Join(d, "cpu0.pt"), filepath.Join(d, "text.core")
}

// raw returns the command for a raw trace with the code of a recording of pt-user.
func (p *place) raw(trace, name string, more ...string) []string {
	_, text := p.program(name)
	return append([]string{p.made("ptdecode"), "flow", "--pt", trace, "--kcore", text, "--cpu-model", "6/94", "--allow-gaps", "-q"}, more...)
}

// walks are packets and ranges of Intel PT in one goroutine: rates of the quickest round.
func (p *place) walks() (list []*row) {
	_, text := p.program("qemu")
	list = append(list, &row{"packets, qemu repeated to 64 MiB", p.benchmark("IntelPTPackets", "best-MB/cpu-s", 5), []line{
		{rate, ratio, p.driver("libipt-packets", p.made("qemu.pt"), text), 5},
		{rate, ratio, p.driver("iptr-packets", p.made("qemu.pt"), text), 1.2},
	}, false})
	names := []string{"mruby", "qemu", "avscript_32"}
	times := map[string]int{"mruby": 40, "qemu": 20, "avscript_32": 200}
	for _, name := range names {
		trace, text := p.program(name)
		list = append(list, &row{"ranges, warm: " + name, p.benchmark("Ranges/"+name, "best-MB/cpu-s", times[name]), []line{
			{rate, ratio, p.driver("libxdc-edges", trace, text), 1.5},
			{rate, ratio, p.driver("libipt-blocks", trace, text), 0},
		}, false})
	}
	for _, name := range names {
		trace, text := p.program(name)
		list = append(list, &row{"counts per edge, the same trace again: " + name, p.benchmark("Edges/"+name, "best-MB/cpu-s", times[name]), []line{
			{rate, ratio, p.driver("libxdc-hot", trace, text), 1.25},
		}, false})
	}
	for _, name := range names {
		trace, text := p.program(name)
		list = append(list, &row{"ranges, cold: " + name, p.benchmark("Cold/"+name, "best-MB/cpu-s", times[name]/2), []line{
			{rate, ratio, p.driver("libxdc-cold", trace, text), 2},
			{rate, ratio, p.driver("iptr-blocks", trace, text), 1.2},
		}, false})
	}
	return append(list,
		&row{"10,000 pokes of one busy site, windows certain", p.benchmark("Pokes/hot", "hot/none", 1), []line{{cost, alone, nil, 1.05}}, false},
		&row{"10,000 pokes, times open, over times certain", p.benchmark("Pokes/spread", "open/certain", 1), []line{{cost, alone, nil, 1.05}}, false},
	)
}

// kernel is a whole recording of a kernel, beside perf.
func (p *place) kernel() []*row {
	rec := filepath.Join(p.data, "kernel-pokes-x86", "tracepoints", "perf.data")
	ours := func(args ...string) *side {
		return p.process("ptdecode", 1, append([]string{p.made("ptdecode"), "flow", rec, "--allow-gaps", "-q"}, args...)...)
	}
	perf := func(name string, args ...string) *side {
		return p.process("perf script "+name, 1, append([]string{p.perf, "script", "-f", "-i", rec}, args...)...)
	}
	both := func(peer *side, onCPU, onWall float64) []line {
		return []line{{cpu, ratio, peer, onCPU}, {wall, ratio, peer, onWall}}
	}
	return []*row{
		{"tracepoints, nothing printed", ours("-o", "none"), both(perf("--itrace=e", "--itrace=e"), 8, 12), false},
		{"branches: cpu,ip,addr", ours("-F", "cpu,ip,addr"), both(perf("--itrace=b", "--itrace=b", "-F", "cpu,ip,addr"), 0, 15), false},
		{"branches with time and symbols", ours("-F", "time,cpu,ip,sym,off,addr"),
			both(perf("--itrace=b", "--itrace=b", "-F", "cpu,time,ip,sym,symoff,addr"), 0, 15), false},
		{"the call tree", ours("--level", "call"), both(perf("--call-trace", "--call-trace"), 0, 10), false},
		{"instructions with symbol and bytes", ours("--level", "insn", "-F", "cpu,ip,sym,bytes"),
			both(perf("--itrace=i1i", "--itrace=i1i", "-F", "cpu,ip,sym,insn"), 0, 10), true},
	}
}

// snapshots are whole processes beside OpenCSD.
func (p *place) snapshots() (list []*row) {
	dir := func(name string) string { return filepath.Join(p.data, "coresight", "snapshots", name) }
	ours := func(name string, times int, args ...string) *side {
		return p.process("ptdecode", times, append([]string{p.made("ptdecode"), "flow", dir(name), "--allow-gaps", "-q"}, args...)...)
	}
	theirs := func(name string, times int, args ...string) *side {
		s := p.process("OpenCSD", times, append([]string{p.opencsd, "-ss_dir", dir(name), "-decode_only"}, args...)...)
		s.crashes = true // 1.8.0, at its exit, after -profile
		return s
	}
	list = append(list,
		&row{"bugfix-exact-match, nothing printed", ours("bugfix-exact-match", 1, "-o", "none", "-j", "1"),
			[]line{{cpu, ratio, theirs("bugfix-exact-match", 1, "-profile"), 20}}, false},
		&row{"bugfix-exact-match, elements printed", ours("bugfix-exact-match", 1, "--level", "element", "-j", "1"),
			[]line{{cpu, ratio, theirs("bugfix-exact-match", 1, "-no_time_print", "-logstdout"), 12}}, false})
	for _, x := range []struct {
		name string
		aim  float64
	}{{"tc2-ptm-rstk-t32", 10}, {"juno_r1_1", 4}} {
		list = append(list, &row{x.name + ", 20 times", ours(x.name, 20, "-o", "none"), []line{{cpu, ratio, theirs(x.name, 20, "-profile"), x.aim}}, false})
	}
	return append(list, &row{"start-up: version, 20 times", p.process("ptdecode", 20, p.made("ptdecode"), "version"), []line{{cpu, alone, nil, 0.04}}, false})
}

// loads are inputs with very much beside the trace, over the same trace alone.
func (p *place) loads() (list []*row) {
	trace, _ := p.program("mruby")
	for _, name := range []string{"events", "kallsyms", "modules"} {
		list = append(list, &row{"reading " + name, p.benchmark("Parsers/"+name, "best-MB/cpu-s", 50), []line{{rate, alone, nil, 200}}, false})
	}
	without := p.process("without", 1, p.raw(trace, "mruby", "-o", "none")...)
	for _, x := range []struct{ work, flag, file string }{
		{"400,000 pokes", "--events", "pokes.jsonl"},
		{"1 M kallsyms", "--kallsyms", "kallsyms"},
		{"100,000 processes", "--events", "processes.jsonl"},
	} {
		list = append(list, &row{x.work, p.process("ptdecode", 1, p.raw(trace, "mruby", "-o", "none", x.flag, p.made(x.file))...),
			[]line{{cpu, more, without, 1}, {peak, more, without, 200}}, false})
	}
	qemu := p.made("qemu.pt")
	return append(list,
		&row{"two workers, 64 MiB, nothing printed", p.workers("ptdecode", p.raw(qemu, "qemu", "-o", "none")...), []line{{part, alone, nil, 0.95}}, false},
		&row{"two workers, 64 MiB, branches", p.workers("ptdecode", p.raw(qemu, "qemu", "-F", "cpu,ip,addr")...), []line{{part, alone, nil, 0.95}}, true})
}

// large are 8 GiB of raw trace.
func (p *place) large() (list []*row) {
	little := func(args ...string) []string {
		return p.raw(p.big, "mruby", append([]string{"--memory", "512MiB"}, args...)...)
	}
	for _, x := range []struct {
		work string
		args []string
	}{
		{"nothing printed", []string{"-o", "none"}},
		{"digest", []string{"--digest"}},
		{"branches", nil},
		{"reverse", []string{"--reverse"}},
	} {
		list = append(list, &row{"8 GiB, --memory 512MiB: " + x.work, p.bounded("ptdecode", little(x.args...)...), []line{{peak, alone, nil, 512}}, true})
	}
	return append(list,
		&row{"8 GiB, --no-learn: the first line", p.firstLine("ptdecode", p.raw(p.big, "mruby", "--no-learn")...), []line{{wall, alone, nil, 0.2}, {cpu, alone, nil, 0}}, false},
		&row{"8 GiB, --last 10", p.bounded("ptdecode", p.raw(p.big, "mruby", "--last", "10")...), []line{{wall, alone, nil, 0.3}, {cpu, alone, nil, 0}}, false})
}
