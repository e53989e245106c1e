package decoder

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/internal/stream"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/isa/x86"
	"github.com/ptdecode/ptdecode/pt"
)

// stepped is what a program executed, one step after the other, with the trace that Intel
// PT would have made of it.
type stepped struct {
	ips    []uint64
	trace  []byte
	events string // the program's mappings, as an event stream
	dir    string // holds its vDSO by build ID
	maps   []userMap
}

// userMap is a line of /proc/PID/maps, of code.
type userMap struct {
	from, until, off uint64
	path             string
}

// stepProgram runs the program at path until it stops itself by INT3. From there it runs
// most instructions, one after the other, or up to the program's next INT3 or signal.
func stepProgram(t *testing.T, most int, path string, args ...string) *stepped {
	t.Helper()
	runtime.LockOSThread() // ptrace is a thread's
	defer runtime.UnlockOSThread()
	cmd := exec.Command(path, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	cmd.Env = append(os.Environ(), "GOGC=off", "GODEBUG=asyncpreemptoff=1")
	if err := cmd.Start(); err != nil {
		t.Skipf("a program cannot be traced here: %v", err)
	}
	pid := cmd.Process.Pid
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	var ws syscall.WaitStatus
	wait := func() bool {
		_, err := syscall.Wait4(pid, &ws, 0, nil)
		return err == nil && ws.Stopped()
	}
	if !wait() { // at exec
		t.Fatal("the program did not begin")
	}
	for {
		if err := syscall.PtraceCont(pid, 0); err != nil {
			t.Fatal(err)
		}
		if !wait() {
			t.Fatalf("%s ended before its INT3", path)
		}
		if ws.StopSignal() == syscall.SIGTRAP {
			break
		}
	}
	s := &stepped{dir: t.TempDir()}
	s.mappings(t, pid)
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		t.Fatal(err)
	}
	defer mem.Close()
	unit := newStepUnit(func(ip uint64) (code [15]byte) {
		_, _ = mem.ReadAt(code[:], int64(ip))
		return code
	})
	var regs syscall.PtraceRegs
	for range most {
		if err := syscall.PtraceGetRegs(pid, &regs); err != nil {
			t.Fatal(err)
		}
		if !unit.at(regs.Rip) {
			break
		}
		if err := syscall.PtraceSingleStep(pid); err != nil || !wait() || ws.StopSignal() != syscall.SIGTRAP {
			break
		}
	}
	s.ips, s.trace = unit.end()
	return s
}

// mappings takes what the process has mapped, with its vDSO as a file.
func (s *stepped) mappings(t *testing.T, pid int) {
	t.Helper()
	f, err := os.Open(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out strings.Builder
	fmt.Fprintln(&out, `{"type":"stream","version":1}`)
	fmt.Fprintf(&out, `{"type":"comm","time":1,"pid":%d,"tid":%[1]d,"comm":"stepped","exec":true}`+"\n", pid)
	for in := bufio.NewScanner(f); in.Scan(); {
		w := strings.Fields(in.Text())
		if len(w) < 6 || !strings.Contains(w[1], "x") {
			continue
		}
		lo, hi, _ := strings.Cut(w[0], "-")
		m := userMap{path: w[5]}
		m.from, _ = strconv.ParseUint(lo, 16, 64)
		m.until, _ = strconv.ParseUint(hi, 16, 64)
		m.off, _ = strconv.ParseUint(w[2], 16, 64)
		s.maps = append(s.maps, m)
		id := ""
		if m.path == "[vdso]" {
			id = s.vdso(t, pid, m)
		}
		name, _ := json.Marshal(m.path)
		fmt.Fprintf(&out, `{"type":"mmap","time":2,"pid":%d,"tid":%[1]d,"addr":"%x","len":%d,"pgoff":"%x","prot":5,"file":%s%s}`+"\n", pid, m.from, m.until-m.from, m.off, name, id)
	}
	fmt.Fprintf(&out, `{"type":"itrace_start","time":100,"cpu":0,"pid":%d,"tid":%[1]d}`+"\n", pid)
	s.events = filepath.Join(s.dir, "events.jsonl")
	if err := os.WriteFile(s.events, []byte(out.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// vdso copies the process's vDSO to where perf's cache would have it, and returns the
// build ID that it is given there.
func (s *stepped) vdso(t *testing.T, pid int, m userMap) string {
	t.Helper()
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		t.Fatal(err)
	}
	defer mem.Close()
	b := make([]byte, m.until-m.from)
	if _, err := mem.ReadAt(b, int64(m.from)); err != nil {
		t.Fatal(err)
	}
	id := hex.EncodeToString(buildIDOf(b))
	if len(id) < 3 {
		return ""
	}
	file := filepath.Join(s.dir, ".build-id", id[:2], id[2:], "vdso")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return `,"build_id":"` + id + `"`
}

// open opens what was stepped.
func (s *stepped) open(t *testing.T, c Config) *Session {
	t.Helper()
	file := filepath.Join(s.dir, "cpu0.pt")
	if err := os.WriteFile(file, s.trace, 0o600); err != nil {
		t.Fatal(err)
	}
	c.Raw = []RawTrace{{Protocol: stream.IntelPT, CPU: 0, Path: file}}
	c.Events, c.BuildIDs = s.events, append(c.BuildIDs, s.dir)
	return opened(t, c)
}

// stepUnit makes Intel PT of single steps.
type stepUnit struct {
	fetch func(ip uint64) [15]byte
	insns map[uint64]isa.Insn
	ips   []uint64
	out   []byte
	bits  uint64
	n     uint8
	since int    // steps since the last sync point
	now   uint64 // where the processor stands
}

func newStepUnit(fetch func(ip uint64) [15]byte) *stepUnit {
	return &stepUnit{fetch: fetch, insns: map[uint64]isa.Insn{}}
}

// put appends packets.
func (u *stepUnit) put(list ...pt.Packet) {
	for _, p := range list {
		u.out = p.Append(u.out)
	}
}

// flush writes the outcomes so far.
func (u *stepUnit) flush() {
	if u.n > 0 {
		u.put(pt.Packet{Kind: pt.TNTShort, Value: u.bits, N: u.n})
	}
	u.bits, u.n = 0, 0
}

// sync writes a sync point; ip is 0 while tracing is off.
func (u *stepUnit) sync(ip uint64) {
	u.flush()
	u.put(pt.Packet{Kind: pt.PSB}, pt.Packet{Kind: pt.TSC, Value: uint64(1000 + len(u.ips))}, pt.Packet{Kind: pt.ModeExec, Value: 1})
	if ip != 0 {
		u.put(pt.Packet{Kind: pt.FUP, Arg: 6, Value: ip})
	}
	u.put(pt.Packet{Kind: pt.PSBEND})
	u.since = 0
}

// at takes the next step: the processor stands at ip. It reports whether to go on.
func (u *stepUnit) at(ip uint64) bool {
	u.now = ip
	if len(u.ips) == 0 {
		u.sync(0)
		u.put(pt.Packet{Kind: pt.PGE, Arg: 6, Value: ip})
	} else if !u.moved(u.ips[len(u.ips)-1], ip) {
		return true // a string instruction goes on
	}
	in, ok := u.insns[ip]
	if !ok {
		code := u.fetch(ip)
		if (x86.Decoder{}).Decode(&in, code[:], ip, isa.Mode64) != isa.OK {
			return false
		}
		u.insns[ip] = in
	}
	if in.Class == isa.Break {
		return false
	}
	if u.since++; u.since > 2000 {
		u.sync(ip)
	}
	u.ips = append(u.ips, ip)
	return true
}

// moved writes what the trace says of going from one instruction to the next.
func (u *stepUnit) moved(from, to uint64) bool {
	in := u.insns[from]
	switch in.Class {
	case isa.Cond:
		u.bits <<= 1
		if to != from+uint64(in.Len) {
			u.bits |= 1
		}
		if u.n++; u.n == 6 {
			u.flush()
		}
	case isa.JumpInd, isa.CallInd, isa.Return:
		u.flush()
		u.put(pt.Packet{Kind: pt.TIP, Arg: 6, Value: to})
	case isa.Syscall:
		u.flush()
		u.put(pt.Packet{Kind: pt.PGD}, pt.Packet{Kind: pt.PGE, Arg: 6, Value: to})
	default:
		return from != to || in.Class != isa.Other
	}
	return true
}

// end returns the steps and their trace.
func (u *stepUnit) end() ([]uint64, []byte) {
	if n := len(u.ips) - 1; u.ips[n] == u.now {
		u.ips = u.ips[:n] // it did not retire for certain
	}
	u.flush()
	u.put(pt.Packet{Kind: pt.FUP, Arg: 6, Value: u.now}, pt.Packet{Kind: pt.PGD})
	return u.ips, u.out
}
