package export

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ptdecode/ptdecode/cmd/internal/counts"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/calls"
)

// What --per divides coverage by.
const (
	perCPU     = "cpu"
	perThread  = "tid"
	perSyscall = "syscall"
)

// dividing returns the names of the formats that --per divides.
func dividing() string {
	var names []string
	for i := range formats {
		if formats[i].divides {
			names = append(names, formats[i].name)
		}
	}
	return strings.Join(names, ", ")
}

// checkPer returns an error if --per asks for what cannot be. given is false where a default asks: then it asks for
// nothing that cannot be of these targets.
func (j *job) checkPer(targets []target, given bool) error {
	if !given && slices.ContainsFunc(targets, func(t target) bool { return !t.format.divides || t.path == "-" }) {
		j.per = ""
	}
	switch j.per {
	case "":
		return nil
	case perCPU, perThread, perSyscall:
	default:
		return &decoder.CallError{What: fmt.Sprintf("--per %s: it is cpu, tid or syscall", j.per)}
	}
	for _, t := range targets {
		switch {
		case !t.format.divides:
			return &decoder.CallError{What: fmt.Sprintf("--per %s: it goes with %s, not with %s", j.per, dividing(), t.format.name)}
		case t.path == "-":
			return &decoder.CallError{What: fmt.Sprintf("--per %s: -o %s: it makes a directory of files, which does not go to standard output", j.per, t.format.name)}
		}
	}
	return nil
}

// divide has the counter tell apart what --per divides by.
func (j *job) divide(o *counts.Options) {
	switch j.per {
	case perCPU:
		o.CPUs = true
	case perThread:
		o.Threads = true
	case perSyscall:
		j.syscalls = newSyscalls(j.session)
		o.Name = j.syscalls.name
	}
}

// errNothing says that a part has nothing in it: it gets no file.
var errNothing = errors.New("nothing")

// divided writes a counted format: a file in the directory path for each CPU, thread or
// system call.
func (j *job) divided(f *format, path string) error {
	byName := map[string][]*counts.Table{}
	for _, g := range j.counter.Groups() {
		if t := j.counter.Table(g); g.Guest == 0 && len(t.Ranges()) > 0 {
			byName[j.partName(g)] = append(byName[j.partName(g)], t)
		}
	}
	if err := os.MkdirAll(path, 0o755); err != nil {
		return err
	}
	some := false
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		o, err := create(filepath.Join(path, name+"."+f.name), nil)
		if err != nil {
			return err
		}
		j.part, j.partOf, j.written = counts.Sum(byName[name]), name, false
		if err = f.counted(j, o); err == nil && j.nothing() {
			err = errNothing
		}
		if err = o.finish(err); err != nil && err != errNothing {
			return err
		}
		some = some || j.written
	}
	j.part, j.partOf, j.written = nil, "", some
	return nil
}

// partName names the file of a group.
func (j *job) partName(g counts.Group) string {
	switch {
	case j.per == perCPU:
		return plainName(j.session.Streams()[g.Stream].Name)
	case j.per == perSyscall && g.Name == "":
		return "no-syscall"
	case j.per == perSyscall:
		return plainName(g.Name)
	case g.TID < 0:
		return "tid-unknown"
	}
	return plainName(fmt.Sprintf("tid%d-%s", g.TID, g.Comm))
}

// plainName returns name with nothing in it that a path would not have.
func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.", r) {
			return r
		}
		return '_'
	}, name)
}

// executed returns what the host executed, or the part of it that is being written.
func (j *job) executed() *counts.Table {
	if j.part != nil {
		return j.part
	}
	return j.counter.All(0)
}

// syscalls finds in which system call the kernel executed what it did: the one whose function
// is in progress, such as __x64_sys_openat. Interrupts and exceptions that came in it are none
// of it.
type syscalls struct {
	calls.Tree
	names []string // by number; 0: none
	of    []uint64 // by range of the batch at hand: the number
}

// sysPrefixes begin the names of functions that serve system calls (arch/x86 and arch/arm64,
// include/asm/syscall_wrapper.h, v6.12), with what stands for them in a name.
var sysPrefixes = [...][2]string{
	{"__x64_sys_", ""}, {"__arm64_sys_", ""}, {"__ia32_sys_", "ia32-"}, {"__ia32_compat_sys_", "ia32-"}, {"__arm64_compat_sys_", "compat-"},
}

// newSyscalls returns what finds system calls of the flow of s.
func newSyscalls(s *decoder.Session) *syscalls {
	k := &syscalls{names: []string{""}}
	k.Tree = calls.Tree{Session: s, OnRan: func(c *calls.Call, _ *decoder.BatchRange) { k.of = append(k.of, k.number(c)) }}
	return k
}

// Flow finds those of b.
func (k *syscalls) Flow(b *decoder.Batch) error {
	k.of = k.of[:0]
	return k.Tree.Flow(b)
}

// name names the system call of the range with an index in the batch at hand; "": none.
func (k *syscalls) name(i int) string { return k.names[k.of[i]] }

// number returns the number of the system call that c is in. A Call keeps it in its Tag, with
// 1 added.
func (k *syscalls) number(c *calls.Call) uint64 {
	switch {
	case c == nil:
		return 0
	case c.Tag != 0:
		return c.Tag - 1
	}
	n := uint64(0)
	if c.How != calls.Interrupted {
		if c.How != calls.FromUser {
			n = k.number(c.Caller)
		}
		if name := syscallOf(c.Sym); n == 0 && name != "" {
			if n = uint64(slices.Index(k.names, name)); n == ^uint64(0) {
				n = uint64(len(k.names))
				k.names = append(k.names, name)
			}
		}
	}
	c.Tag = n + 1
	return n
}

// syscallOf returns the name of the system call that a function serves, "" if it serves none.
func syscallOf(sym string) string {
	for _, p := range sysPrefixes {
		if name, ok := strings.CutPrefix(sym, p[0]); ok {
			return p[1] + name
		}
	}
	return ""
}

// testName returns a name as lcov takes it: letters, digits and _ (geninfo(1), "FILES").
func testName(name string) string { return strings.NewReplacer("-", "_", ".", "_").Replace(name) }
