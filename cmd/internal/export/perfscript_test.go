package export

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// perfLines runs perf script and gives each of its lines to take.
func perfLines(t *testing.T, rec string, args []string, take func(string)) {
	t.Helper()
	c := exec.Command("perf", append([]string{"script", "--ns", "-i", rec}, args...)...)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for in := bufio.NewReaderSize(out, 1<<16); ; {
		line, err := in.ReadString('\n')
		if line = strings.TrimRight(line, "\n "); line != "" {
			take(line)
		}
		if err != nil {
			break
		}
	}
	if err := c.Wait(); err != nil {
		t.Fatalf("perf script: %v", err)
	}
}

// ourLines gives the lines of a format, CPU by CPU.
type ourLines struct {
	text []byte
	next map[string]int // by CPU, as lines begin with it: [000]
}

// ourPerfLines exports a format with fields that begin with cpu.
func ourPerfLines(t *testing.T, rec, format, fields string) *ourLines {
	t.Helper()
	var b bytes.Buffer
	args := []string{"--with-ambiguous", "-o", format + ":-"}
	if fields != "" {
		args = append(args, "--perf-fields", fields)
	}
	runVerb(t, New(testHost(decoder.Config{Recording: rec}, &b)), args...)
	return &ourLines{b.Bytes(), map[string]int{}}
}

// of returns the next line of a CPU, "" if there is none.
func (o *ourLines) of(cpu string) string {
	for at := o.next[cpu]; at < len(o.text); {
		line, _, _ := bytes.Cut(o.text[at:], []byte("\n"))
		at += len(line) + 1
		if bytes.Contains(line[:min(32, len(line))], []byte(cpu)) {
			o.next[cpu] = at
			return strings.TrimRight(string(line), " ")
		}
	}
	o.next[cpu] = len(o.text)
	return ""
}

// perfAliases is the names of the symbols of each address.
type perfAliases map[string][]string

// readAliases reads kallsyms: the addresses of each name.
func readAliases(t *testing.T, rec string) perfAliases {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(rec, "kcore_dir", "kallsyms"))
	if err != nil {
		t.Fatal(err)
	}
	all := perfAliases{}
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) > 2 {
			all[f[2]] = append(all[f[2]], f[0])
		}
	}
	return all
}

// same reports whether two words are equal, or name one address by two names.
func (a perfAliases) same(x, y string) bool {
	x, xo, _ := strings.Cut(x, "+")
	y, yo, _ := strings.Cut(y, "+")
	return xo == yo && (x == y || slices.ContainsFunc(a[x], func(addr string) bool { return slices.Contains(a[y], addr) }))
}

// like compares two lines word by word. What differs has to be two names of one address.
func (a perfAliases) like(x, y string) bool {
	f, g := strings.Fields(x), strings.Fields(y)
	return slices.EqualFunc(f, g, a.same)
}

// TestPerfScript would catch a branch that perf script 6.1 prints and the format loses, gets
// out of order, or prints otherwise: another address, flag, column or name. Some addresses have
// several symbols, and perf takes another one than ptdecode: kallsyms has to have both.
func TestPerfScript(t *testing.T) {
	data := perfRecordings(t)
	names := []string{"kprobes", "ftrace", "tracepoints"}
	for _, name := range names[:testsize.Of(t, 1, len(names))] {
		rec := filepath.Join(data, name, "perf.data")
		aliases := readAliases(t, rec)
		const fields = "cpu,ip,sym,symoff,addr,flags"
		ours := ourPerfLines(t, rec, "perf-script", fields)
		lines, renamed, wrong := 0, 0, 0
		perfLines(t, rec, []string{"--itrace=b", "-F", fields}, func(line string) {
			lines++
			got := ours.of(line[:5])
			if got == line {
				return
			}
			if renamed++; aliases.like(got, line) && perfColumns(got) == perfColumns(line) {
				return
			}
			if wrong++; wrong < 4 {
				t.Errorf("%s: line %d is\n%s, perf has\n%s", name, lines, got, line)
			}
		})
		ours.end(t, name)
		t.Logf("%s: of %d lines %d name an address by another of its symbols, %d are wrong", name, lines, renamed-wrong, wrong)
	}
}

// perfColumns returns where the addresses of a line stand, up to the first name.
func perfColumns(line string) string {
	return line[:min(len(line), 47)]
}

// end fails where lines are left that perf does not have.
func (o *ourLines) end(t *testing.T, what string) {
	t.Helper()
	for cpu := range o.next {
		if line := o.of(cpu); line != "" {
			t.Errorf("%s: perf does not have %s", what, line)
		}
	}
}

// perfRecordings returns the folder of the kernel's recordings; the test is skipped where
// these or perf are absent.
func perfRecordings(t *testing.T) string {
	t.Helper()
	data := testsize.Recordings(t)
	if _, err := exec.LookPath("perf"); err != nil {
		t.Skipf("no perf to compare with: %v", err)
	}
	return filepath.Join(data, "kernel-pokes-x86")
}

// perfThreads tells where two lists of lines name threads otherwise, by CPU: each may take a
// switch earlier than the other.
type perfThreads map[string]*struct {
	now, before string // perf's
	await       string // ours, that perf has to name next; "": none
}

// explains reports whether a switch explains that a line of cpu names our thread, and perf's.
func (p perfThreads) explains(cpu, ours, perfs string) bool {
	c := p[cpu]
	if c == nil {
		c = new(struct{ now, before, await string })
		p[cpu] = c
	}
	if perfs != c.now {
		if c.await != "" && c.await != perfs {
			return false
		}
		c.now, c.before, c.await = perfs, c.now, ""
	}
	if ours != perfs && ours != c.before {
		if c.await != "" && c.await != ours {
			return false
		}
		c.await = ours
	}
	return true
}

// TestPerfScriptLines would catch a default line that differs from perf's in another way than
// three. The symbol may be another one of the same address. The thread may differ up to a
// switch or behind it. The time may be earlier: perf prints the time of a packet that it read
// ahead, so a branch never gets a later time than perf's.
func TestPerfScriptLines(t *testing.T) {
	rec := filepath.Join(perfRecordings(t), "kprobes", "perf.data")
	aliases := readAliases(t, rec)
	formats := []struct{ format, itrace, cpu string }{
		{"perf-script", "b", "0,1"}, {"perf-script-insns", "i1i", "1"},
	}
	for _, c := range formats[:testsize.Of(t, 1, len(formats))] {
		ours := ourPerfLines(t, rec, c.format, "")
		switches := perfThreads{}
		lines, threads, wrong := 0, 0, 0
		perfLines(t, rec, []string{"--itrace=" + c.itrace, "-C", c.cpu}, func(line string) {
			lines++
			g := strings.Fields(line)
			got := ours.of(g[2])
			f := strings.Fields(got)
			if len(f) != len(g) || len(f) < 8 {
				t.Fatalf("%s: line %d is\n%s, perf has\n%s", c.format, lines, got, line)
			}
			us, them := f[0]+" "+f[1], g[0]+" "+g[1]
			if us != them {
				threads++
			}
			event, _, _ := strings.Cut(g[5], ":") // behind it stands of which rings: branches:k
			late := perfNanoseconds(t, g[3]) - perfNanoseconds(t, f[3])
			if !switches.explains(g[2], us, them) || late < 0 || late > 50_000 || f[2] != g[2] || f[4] != g[4] || f[5] != event+":" || !slices.EqualFunc(f[6:], g[6:], aliases.same) {
				if wrong++; wrong < 4 {
					t.Errorf("%s: line %d is\n%s, perf has\n%s", c.format, lines, got, line)
				}
			}
		})
		if lines < 1000 {
			t.Errorf("%s: perf has only %d lines", c.format, lines)
		}
		t.Logf("%s: of %d lines %d name another thread, %d are wrong", c.format, lines, threads, wrong)
	}
}

// perfNanoseconds reads a time.
func perfNanoseconds(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(strings.Trim(strings.Replace(s, ".", "", 1), ":"))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestPerfScriptCalls would catch a call or return that perf's tree of calls has otherwise. How
// deep it lies may differ where perf takes a switch of threads earlier.
func TestPerfScriptCalls(t *testing.T) {
	rec := filepath.Join(perfRecordings(t), "kprobes", "perf.data")
	aliases := readAliases(t, rec)
	ours := ourPerfLines(t, rec, "perf-script-calls", "cpu,flags,callindent")
	lines, deep, wrong := 0, 0, 0
	perfLines(t, rec, []string{"--itrace=cr", "-F", "cpu,flags,callindent"}, func(line string) {
		lines++
		got := ours.of(line[:5])
		if !aliases.like(got, line) {
			if wrong++; wrong < 4 {
				t.Errorf("line %d is\n%s, perf has\n%s", lines, got, line)
			}
		}
		if perfIndent(got) != perfIndent(line) {
			deep++
		}
	})
	if deep*50 > lines || lines < 1000 {
		t.Errorf("%d of %d calls lie in others than with perf", deep, lines)
	}
	t.Logf("of %d lines %d lie in other calls, %d are wrong", lines, deep, wrong)
}

// perfIndent returns where the last word of a line begins.
func perfIndent(line string) int { return strings.LastIndexByte(line, ' ') }

// TestPerfScriptStacks would catch a branch that is in no stack or in two, in another order,
// or written otherwise than perf writes it. Each of perf's stacks has to be among ours.
func TestPerfScriptStacks(t *testing.T) {
	rec := filepath.Join(perfRecordings(t), "kprobes", "perf.data")
	ours := ourPerfLines(t, rec, "perf-script-brstack", "cpu,ip,brstack")
	all := map[string][]string{}
	for line := range strings.Lines(string(ours.text)) {
		f := strings.Fields(line)
		slices.Reverse(f[2:])
		all[f[0]] = append(all[f[0]], f[2:]...)
	}
	at := map[string]int{}
	n := 0
	perfLines(t, rec, []string{"--itrace=i2000il16", "-F", "cpu,ip,brstack"}, func(line string) {
		f := strings.Fields(line)
		cpu, want := f[0], f[2:]
		slices.Reverse(want)
		for i := at[cpu]; i+len(want) <= len(all[cpu]); i++ {
			if slices.Equal(all[cpu][i:i+len(want)], want) {
				at[cpu] = i
				n++
				return
			}
		}
		t.Fatalf("perf's stack is not among ours: %s", line)
	})
	want := bytes.Count(ourPerfLines(t, rec, "perf-script", "ip").text, []byte("\n"))
	if got := len(all["[000]"]) + len(all["[001]"]); got != want || n < 100 {
		t.Errorf("%d branches are in stacks, %d were taken; perf has %d stacks", got, want, n)
	}
}
