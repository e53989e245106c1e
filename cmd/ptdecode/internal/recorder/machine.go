package recorder

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/ptdecode/ptdecode/decoder/files"
	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// machine is what a recording asks of the machine that it is made on.
type machine struct {
	tree     files.Tree
	release  string // of the kernel: 6.12.107+deb13-arm64
	version  kernelVersion
	arm      bool // AArch64
	arm32    bool
	units    []unit // that trace a CPU's flow
	paranoid int    // kernel.perf_event_paranoid
	hidden   int    // kernel.kptr_restrict
	caps     uint64 // effective capabilities of this process
	syms     *symbols.Kallsyms
	symsErr  error // why there are no symbols
	kcoreErr error // why the kernel's code cannot be read
	locked   string
}

// kernelVersion is the number of a kernel or of a perf: 6.12 is {6, 12}.
type kernelVersion struct{ major, minor int }

// before reports whether v is older than major.minor; a version not known is not.
func (v kernelVersion) before(major, minor int) bool {
	return v.major != 0 && (v.major < major || v.major == major && v.minor < minor)
}

// parseVersion reads the number in front of s.
func parseVersion(s string) (v kernelVersion) {
	fmt.Sscanf(s, "%d.%d", &v.major, &v.minor)
	return v
}

// unit is a trace unit as perf knows it.
type unit struct {
	name    string
	filters string // how many address filters; "" where it does not say
	sinks   int    // of CoreSight: where trace can go
	caps    []string
}

// Capabilities (include/uapi/linux/capability.h, v6.12), by bit.
const (
	capIPCLock  = 14 // locks more memory than kernel.perf_event_mlock_kb
	capSysRawIO = 17 // opens /proc/kcore (fs/proc/kcore.c, open_kcore)
	capSysAdmin = 21
	capPerfmon  = 38 // may do what kernel.perf_event_paranoid denies, from v5.8 on
	capBPF      = 39 // reads the code of BPF programs
)

// may reports whether the process has a capability.
func (m *machine) may(bit int) bool { return m.caps>>bit&1 != 0 }

// traced are the names under which perf knows the trace units that ptdecode reads.
func traced() []string { return []string{"intel_pt", "cs_etm"} }

const devices = "/sys/bus/event_source/devices"

// look reads what a machine says of itself. goarch is that of this program.
func look(tree files.Tree, goarch string) *machine {
	m := &machine{tree: tree, release: strings.TrimSpace(readFile(tree, "/proc/sys/kernel/osrelease"))}
	m.version = parseVersion(m.release)
	arch := strings.TrimSpace(readFile(tree, "/proc/sys/kernel/arch")) // from v6.1 on
	m.arm = arch == "aarch64" || arch == "" && goarch == "arm64"
	m.arm32 = strings.HasPrefix(arch, "armv") || arch == "" && goarch == "arm"
	m.paranoid = readNumber(tree, "/proc/sys/kernel/perf_event_paranoid", 2)
	m.hidden = readNumber(tree, "/proc/sys/kernel/kptr_restrict", 0)
	for line := range strings.Lines(readFile(tree, "/proc/self/status")) {
		if bits, ok := strings.CutPrefix(line, "CapEff:"); ok {
			m.caps, _ = strconv.ParseUint(strings.TrimSpace(bits), 16, 64)
		}
	}
	for _, name := range traced() {
		if _, err := tree.Stat(path.Join(devices, name)); err == nil {
			m.units = append(m.units, lookUnit(tree, name))
		}
	}
	if text, err := tree.ReadText("/proc/kallsyms"); err != nil {
		m.symsErr = err
	} else {
		m.syms, m.symsErr = symbols.ParseKallsyms(text, "/proc/kallsyms")
	}
	m.kcoreErr = tryKcore(tree)
	if _, rest, ok := strings.Cut(readFile(tree, "/sys/kernel/security/lockdown"), "["); ok {
		m.locked, _, _ = strings.Cut(rest, "]")
	}
	return m
}

// lookUnit reads what a trace unit says of itself.
func lookUnit(tree files.Tree, name string) unit {
	dir := path.Join(devices, name)
	u := unit{name: name, filters: strings.TrimSpace(readFile(tree, path.Join(dir, "nr_addr_filters")))}
	if list, err := tree.ReadDir(path.Join(dir, "sinks")); err == nil {
		u.sinks = len(list)
	}
	list, _ := tree.ReadDir(path.Join(dir, "caps"))
	for _, e := range list {
		v := strings.TrimSpace(readFile(tree, path.Join(dir, "caps", e.Name())))
		switch {
		case v == "1":
			u.caps = append(u.caps, e.Name())
		case v != "0" && v != "":
			u.caps = append(u.caps, e.Name()+"="+v)
		}
	}
	slices.Sort(u.caps)
	return u
}

// tryKcore reads the first bytes of /proc/kcore: opening it asks for rights.
func tryKcore(tree files.Tree) error {
	f, err := tree.Open("/proc/kcore")
	if err != nil {
		return err
	}
	defer f.Close()
	var magic [4]byte
	if n, err := f.ReadAt(magic[:], 0); n < len(magic) {
		return fmt.Errorf("/proc/kcore: have %d bytes, need 4: %w", n, err)
	}
	return nil
}

// readFile returns what a small file holds; "" where it cannot be read.
func readFile(tree files.Tree, name string) string {
	b, err := tree.Read(name)
	if err != nil {
		return ""
	}
	return string(b)
}

// readNumber returns the number that a file holds, or another where it holds none.
func readNumber(tree files.Tree, name string, or int) int {
	n, err := strconv.Atoi(strings.TrimSpace(readFile(tree, name)))
	if err != nil {
		return or
	}
	return n
}

// unitNamed returns a trace unit of the machine.
func (m *machine) unitNamed(name string) *unit {
	for i := range m.units {
		if m.units[i].name == name {
			return &m.units[i]
		}
	}
	return nil
}

// moduleSpan returns how far the first and the last symbol lie apart that are not the kernel's
// own, bytes.
func (m *machine) moduleSpan() uint64 {
	if m.syms == nil {
		return 0
	}
	first, last := uint64(math.MaxUint64), uint64(0)
	for i := range m.syms.Len() {
		if y := m.syms.Entry(i); y.Module != "" {
			first, last = min(first, y.Addr), max(last, y.Addr)
		}
	}
	return last - min(first, last)
}

// kernelAllowed reports whether perf may record what the kernel does.
func (m *machine) kernelAllowed() bool {
	return m.paranoid < 2 || m.may(capPerfmon) || m.may(capSysAdmin)
}

// wholeAllowed reports whether perf may record all CPUs.
func (m *machine) wholeAllowed() bool {
	return m.paranoid < 1 || m.may(capPerfmon) || m.may(capSysAdmin)
}

// describe says in one line what the machine is.
func (m *machine) describe() string {
	s := "Linux " + m.release
	if m.release == "" {
		s = "Linux of a version that is not known"
	}
	for _, u := range m.units {
		s += ", " + u.name
		var more []string
		if u.filters != "" {
			more = append(more, u.filters+" address filters")
		}
		if u.name == "cs_etm" {
			more = append(more, fmt.Sprintf("%d sinks", u.sinks))
		}
		if more = append(more, u.caps...); len(more) > 0 {
			s += " (" + strings.Join(more, ", ") + ")"
		}
	}
	return s
}
