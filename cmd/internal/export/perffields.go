package export

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ptdecode/ptdecode/cmd/internal/terminal"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/rows"
)

// perfFields is a set of fields of perf script. perf prints them in the order in which they
// stand here, in whatever order they are asked for.
type perfFields uint16

// The fields.
const (
	perfComm perfFields = 1 << iota
	perfTID
	perfCPU
	perfTime
	perfPeriod
	perfEvent
	perfFlags
	perfCallIndent
	perfIP
	perfSym
	perfSymOff
	perfDSO
	perfAddr
	perfBrstack
)

// perfFieldNames are perf's names, in the order of the set: linux,
// tools/perf/Documentation/perf-script.txt.
var perfFieldNames = []string{
	"comm", "tid", "cpu", "time", "period", "event", "flags", "callindent", "ip", "sym", "symoff", "dso", "addr", "brstack",
}

// parsePerfFields reads --perf-fields: names, or +NAME and -NAME that change the defaults.
func parsePerfFields(given, defaults string) (set perfFields, err error) {
	if given != "" && !strings.ContainsAny(given[:1], "+-") {
		defaults, given = given, ""
	}
	for _, list := range []string{defaults, given} {
		for name := range strings.SplitSeq(list, ",") {
			bare := strings.TrimLeft(name, "+-")
			i := slices.Index(perfFieldNames, bare)
			switch {
			case name == "":
			case i < 0:
				return 0, &decoder.CallError{What: fmt.Sprintf("--perf-fields: no field %q; fields are %s", bare, strings.Join(perfFieldNames, ", "))}
			case name[0] == '-':
				set &^= 1 << i
			default:
				set |= 1 << i
			}
		}
	}
	return set, nil
}

// print writes a line: of r, and of stack, the branches before it, where there are any.
func (p *perfScript) print(r *rows.Row, stack []byte) error {
	b, f := p.line[:0], p.fields
	tid, comm := p.Names().Thread(r)
	if f&perfComm != 0 {
		comm = terminal.Plain(comm)
		b = append(perfPad(b, 16-len(comm)), comm...)
		b = append(b, ' ')
	}
	if f&perfTID != 0 {
		b = append(perfNumber(b, int64(tid), 5), ' ')
	}
	if f&perfCPU != 0 {
		b = append(b, '[')
		for n := int32(100); n > 1 && r.Stream.CPU < n; n /= 10 {
			b = append(b, '0')
		}
		b = append(strconv.AppendInt(b, int64(max(r.Stream.CPU, 0)), 10), "] "...)
	}
	if f&perfTime != 0 {
		t := r.Time.Lo // as perf: the last time that the trace told
		b = append(perfNumber(b, int64(t/1e9), 5), '.')
		for n := uint64(1e8); n > 1 && t%1e9 < n; n /= 10 {
			b = append(b, '0')
		}
		b = append(strconv.AppendUint(b, t%1e9, 10), ": "...)
	}
	if f&perfPeriod != 0 {
		n := 1
		if p.stacks != nil {
			n = p.stacks[r.Stream.Index].n
		}
		b = append(perfNumber(b, int64(n), 10), ' ')
	}
	if f&perfEvent != 0 {
		b = append(append(b, p.event...), ": "...)
	}
	if f&perfFlags != 0 {
		name := perfTransfer(r.Transfer)
		b = append(append(b, "  "...), name...)
		b = perfPad(b, 22-len(name))
	}
	if p.indents != nil {
		b = p.indent(b, r, tid)
	}
	if f&perfIP != 0 {
		b = p.address(append(b, ' '), r, r.IP)
	}
	if f&perfAddr != 0 {
		b = p.address(append(b, " => "...), r, perfTarget(r))
	}
	if f&perfBrstack != 0 {
		b = append(b, stack...)
	}
	b = append(b, '\n')
	p.line = b
	_, err := p.out.Write(b)
	return err
}

// perfTarget returns where r leads, 0 where that is not known, as perf has it.
func perfTarget(r *rows.Row) uint64 {
	if !r.HasAddr {
		return 0
	}
	return r.Addr
}

// address appends an address of r, and what it is called.
func (p *perfScript) address(b []byte, r *rows.Row, addr uint64) []byte {
	var digits [16]byte
	hex := strconv.AppendUint(digits[:0], addr, 16)
	b = append(perfPad(b, 16-len(hex)), hex...)
	if p.fields&(perfSym|perfDSO) == 0 {
		return b
	}
	at := p.Names().At(r, addr)
	if p.fields&perfSym != 0 {
		b = append(b, ' ')
		if at.Sym == "" {
			b = append(b, "[unknown]"...)
		} else if b = terminal.AppendPlain(b, at.Sym); p.fields&perfSymOff != 0 {
			b = strconv.AppendUint(append(b, "+0x"...), at.Off, 16)
		}
	}
	if p.fields&perfDSO != 0 {
		b = append(terminal.AppendPlain(append(b, " ("...), p.file(r, addr, &at)), ')')
	}
	return b
}

// file returns what perf calls the file that holds addr.
func (p *perfScript) file(r *rows.Row, addr uint64, at *rows.Place) string {
	kernel := p.job.session.Kernel(addr)
	if m := r.Stream.Machine; m != nil {
		kernel = m.Kernel(addr)
	}
	switch {
	case kernel && (at.DSO == "" || at.DSO == kernelName):
		return kernelOf(r.Stream.Guest)
	case at.DSO != "" && kernel && at.DSO[0] != '[':
		return "[" + at.DSO + "]"
	case at.DSO != "":
		return at.DSO
	}
	return "[unknown]"
}

// kernelOf returns what perf calls the kernel of a virtual machine that a process runs, 0: of the host
// (machine__mmap_name, tools/perf/util/machine.c, v6.12).
func kernelOf(guest int32) string {
	if guest == 0 {
		return kernelName
	}
	return fmt.Sprintf("[guest.kernel.kallsyms.%d]", guest)
}

// perfTransfer returns perf's words for how the flow went.
func perfTransfer(t rows.Transfer) string {
	switch t {
	case rows.TransferTrap:
		return "hw int"
	case rows.TransferTraceEnd | rows.TransferInterrupt, rows.TransferTraceEnd | rows.TransferTrap:
		return "tr end  async"
	case rows.TransferTraceEnd:
		return "tr end"
	}
	if t&rows.TransferTraceEnd != 0 {
		return "tr end  " + (t &^ rows.TransferTraceEnd).String()
	}
	return t.String()
}

// perfNumber appends n, right-justified.
func perfNumber(b []byte, n int64, width int) []byte {
	from := len(b)
	b = strconv.AppendInt(b, n, 10)
	if size := len(b) - from; size < width {
		b = perfPad(b[:from], width-size)
		b = strconv.AppendInt(b, n, 10)
	}
	return b
}

// perfPad appends n blanks.
func perfPad(b []byte, n int) []byte {
	for ; n > 0; n-- {
		b = append(b, ' ')
	}
	return b
}
