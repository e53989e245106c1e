package recorder

import (
	"errors"
	"io/fs"

	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// What to do about rights.
const (
	hintRoot     = "run as root (sudo ptdecode record ...)"
	hintParanoid = hintRoot + ", or with CAP_PERFMON, or sysctl kernel.perf_event_paranoid=-1"
	hintSyslog   = hintRoot + ", or with CAP_SYSLOG, or sysctl kernel.perf_event_paranoid=1"
	hintKptr     = hintRoot + ", or sysctl kernel.kptr_restrict=0"
)

// rights says what the process may not do that the recording needs.
func (p *plan) rights(m *machine) {
	if p.kernel && !m.kernelAllowed() {
		p.stop(hintParanoid+"; programs alone are traced by events that end in u", "kernel.perf_event_paranoid is %d: the kernel may not be recorded", m.paranoid)
	}
	if p.args.all && !m.wholeAllowed() {
		p.stop(hintParanoid, "kernel.perf_event_paranoid is %d: whole CPUs may not be recorded", m.paranoid)
	}
	if !p.kernel {
		return
	}
	if !m.may(capBPF) && !m.may(capSysAdmin) {
		p.lacks(hintRoot, "the code of BPF programs may not be read: it is not recorded where a program goes before the end")
	}
	switch err := m.symsErr; {
	case err == nil:
	case errors.Is(err, symbols.ErrRestricted):
		if m.hidden == 0 { // kallsyms_show_value, kernel/ksyms_common.c of v6.6: then only who may profile the kernel, or has CAP_SYSLOG
			p.stop(hintSyslog, "/proc/kallsyms shows no addresses, without which perf cannot copy the kernel's code: kernel.perf_event_paranoid is %d, and CAP_SYSLOG is missing", m.paranoid)
			break
		}
		p.stop(hintKptr, "kernel.kptr_restrict is %d: /proc/kallsyms shows no addresses, without which perf cannot copy the kernel's code", m.hidden)
	default:
		p.stop("use a kernel with CONFIG_KALLSYMS", "/proc/kallsyms cannot be read: %v", plainly(err))
	}
	switch err := m.kcoreErr; {
	case err == nil:
	case errors.Is(err, fs.ErrNotExist):
		p.stop("use a kernel with CONFIG_PROC_KCORE: what the kernel's code is while it runs, no other file says", "/proc/kcore is not there: the kernel's code cannot be copied")
	case m.locked == "confidentiality":
		p.stop("boot with lockdown=integrity or without; confidentiality keeps the kernel's code from root, too", "kernel lockdown is %s: /proc/kcore cannot be read", m.locked)
	case errors.Is(err, fs.ErrPermission):
		hint := hintRoot
		if !m.may(capSysRawIO) {
			hint += ": /proc/kcore needs CAP_SYS_RAWIO"
		}
		p.stop(hint, "/proc/kcore may not be read: the kernel's code cannot be copied")
	default:
		p.stop(hintRoot, "/proc/kcore cannot be read: %v", plainly(err))
	}
}

// plainly returns what went wrong without the file's name.
func plainly(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
