// Package isatest is what the tests of several instruction sets share: running
// binutils' objdump over code, and asking a printer of instructions.
package isatest

import (
	"bufio"
	"bytes"
	"cmp"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/isa"
)

// Tool is an objdump of one architecture.
type Tool struct {
	Name    string // of the program
	Env     string // the environment variable that names another; empty: none does
	Package string // Debian's package that has it
}

// Line is one line of objdump: an instruction as it sees it.
type Line struct {
	Addr uint64
	Code string // the code in hexadecimal digits, as printed
	Asm  string // as printed: mnemonic, tab, operands, comment
}

// Run runs objdump over a file with args, and gives each line of code to f. It
// skips the test where there is no such objdump.
func (o Tool) Run(t testing.TB, f func(Line), args ...string) {
	t.Helper()
	name := o.Name
	if e := os.Getenv(o.Env); e != "" {
		name = e
	}
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("no objdump: %v (Debian's package %s, or another by %s)", err, o.Package, cmp.Or(o.Env, "PATH"))
	}
	cmd := exec.Command(path, append([]string{"-w", "-z"}, args...)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	readLines(t, out, f)
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%s %v: %v", name, args, err)
	}
}

// readLines gives the lines of objdump's output that hold code to f.
func readLines(t testing.TB, out io.Reader, f func(Line)) {
	t.Helper()
	sc := bufio.NewScanner(out)
	sc.Buffer(make([]byte, 1<<16), 1<<20)
	for sc.Scan() {
		p := bytes.SplitN(sc.Bytes(), []byte{'\t'}, 3)
		if len(p) != 3 {
			continue
		}
		addr, err := strconv.ParseUint(strings.TrimSuffix(string(bytes.TrimSpace(p[0])), ":"), 16, 64)
		if err != nil {
			continue // a heading
		}
		f(Line{addr, string(bytes.TrimSpace(p[1])), string(p[2])})
	}
	if err := sc.Err(); err != nil {
		t.Fatal(err)
	}
}

// RunCode is Run for code that lies at addr, which needs a name of its machine.
func (o Tool) RunCode(t testing.TB, f func(Line), code []byte, addr uint64, machine string, args ...string) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(name, code, 0o600); err != nil {
		t.Fatal(err)
	}
	args = append([]string{"-D", "-b", "binary", "-m", machine, "--adjust-vma", "0x" + strconv.FormatUint(addr, 16), name}, args...)
	o.Run(t, f, args...)
}

// Plain is the mnemonic and the operands with a space between, up to the first of
// the strings that begin a comment.
func (l Line) Plain(comments ...string) string {
	asm := l.Asm
	for _, c := range comments {
		asm, _, _ = strings.Cut(asm, c)
	}
	return strings.TrimSpace(strings.Replace(asm, "\t", " ", 1))
}

// Classes counts instructions by class.
type Classes [isa.NumClasses]int

// Log logs the counts.
func (c *Classes) Log(t testing.TB) {
	for class, n := range c {
		if n > 0 {
			t.Logf("%9d %s", n, isa.Class(class))
		}
	}
}

// Symbol knows one symbol, f, at 0x2000 to 0x2fff (see line.Place).
func Symbol(addr uint64) (name string, base uint64) {
	if addr >= 0x2000 && addr < 0x3000 {
		return "f", 0x2000
	}
	return "", 0
}
