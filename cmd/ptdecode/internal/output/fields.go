package output

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ptdecode/ptdecode/decoder/rows"
)

// Field is a column of a line, or a key of an object.
type Field uint8

// The fields. What each holds is in FieldHelp.
const (
	Time Field = iota
	CPU
	TID
	Comm
	IP
	Sym
	Off
	DSO
	Insn
	Disasm
	Bytes
	Verdict
	Epoch
	Flags
	Addr
	Count
	SrcLine
	Inlines
	numFields
	mark    // the verdict, if it is not certain; only in defaults
	element // an element's name, and what it says; only in defaults
)

var fieldNames = [numFields]string{
	"time", "cpu", "tid", "comm", "ip", "sym", "off", "dso", "insn", "disasm",
	"bytes", "verdict", "epoch", "flags", "addr", "count", "srcline", "inlines",
}

var fieldHelp = [numFields]string{
	"when, seconds with nine decimals: the lower bound of the time; JSON: ns, with until",
	"the CPU, decimal; for an Arm snapshot the trace ID, hex; tidN for a thread's own stream; @PID after it: of the guest that process PID runs",
	"the thread that ran, decimal",
	"the thread's name",
	"the address, 16 hex digits; for a branch, where it is",
	"the symbol that holds the address",
	"the address's offset in the symbol, or in the mapped file, bytes",
	"the module or file that the symbol is in",
	"what the instruction, or the last one of a block, does to the flow: other, jump, cond, call, ...",
	"the instruction disassembled",
	"the machine code, hex",
	"how the code was settled: certain, trace, exception, unconfirmed, ambiguous",
	"the epochs (counts of changes done) for which the code is this: FROM..UNTIL, * for all",
	"the kind of a branch: call, return, jcc, jmp, int, iret, syscall, sysret, hw int, trap, tx abrt, tr strt, tr end",
	"where a branch goes, with sym, off and dso as chosen; the end of a block",
	"the number of instructions",
	"the source file and line that the code was made of, by DWARF",
	"the functions inlined there, innermost first, each with where it was called, < between; with --inlines",
}

// FieldNames returns the names of all fields, as -F takes them.
func FieldNames() []string { return slices.Clone(fieldNames[:]) }

// String returns the field's name as -F takes it.
func (f Field) String() string {
	switch {
	case f < numFields:
		return fieldNames[f]
	case f == element:
		return "element"
	}
	return "mark"
}

// FieldHelp returns one line for each field: its name and what it holds.
func FieldHelp() string {
	var b strings.Builder
	for i, n := range fieldNames {
		fmt.Fprintf(&b, "  %-8s %s\n", n, fieldHelp[i])
	}
	return b.String()
}

// Defaults returns the fields that a format prints when none are named.
func (f *Format) Defaults(l rows.Level) []Field {
	if f.defaults != nil {
		return f.defaults(l)
	}
	return textFields(l)
}

// textFields are the fields of a line.
func textFields(l rows.Level) []Field {
	switch l {
	case rows.LevelInsn:
		return []Field{CPU, Time, IP, Sym, Off, Disasm, mark}
	case rows.LevelBlock:
		return []Field{CPU, Time, IP, Sym, Off, Count, mark}
	case rows.LevelBranch:
		return []Field{CPU, Time, Flags, IP, Sym, Off, Addr, mark}
	}
	return []Field{CPU, TID, Time, Flags, Sym, mark}
}

// tsvFields are the fields of a line with tabs.
func tsvFields(l rows.Level) []Field {
	if l == rows.LevelElement {
		return []Field{CPU, Time, element}
	}
	return textFields(l)
}

// objectFields are the fields of an object.
func objectFields(l rows.Level) []Field {
	f := []Field{CPU, Time, TID, Comm, IP, Sym, Off, DSO, Verdict}
	switch l {
	case rows.LevelBranch, rows.LevelCall:
		f = append(f, Flags, Addr)
	case rows.LevelBlock:
		f = append(f, Addr, Count, Insn)
	}
	return f
}

// With returns fields, if inlines with those of the source behind.
func With(fields []Field, inlines bool) []Field {
	if inlines {
		fields = slices.DeleteFunc(slices.Clone(fields), func(f Field) bool { return f == SrcLine || f == Inlines })
		fields = append(fields, SrcLine, Inlines)
	}
	return fields
}

// Marked reports whether lines of fields say which instructions are ambiguous.
func Marked(fields []Field) bool {
	return slices.Contains(fields, Verdict) || slices.Contains(fields, mark)
}

// ParseFields reads the argument of -F: names with commas between them, in the
// order in which they are printed. +NAME adds to the defaults, and -NAME takes
// away from them.
func ParseFields(spec string, defaults []Field) ([]Field, error) {
	if spec == "" {
		return defaults, nil
	}
	out := slices.Clone(defaults)
	fresh := true
	for i, w := range strings.Split(spec, ",") {
		name := strings.TrimLeft(w, "+-")
		at := slices.Index(fieldNames[:], name)
		if at < 0 {
			return nil, fmt.Errorf("field %q: need some of %s", name, strings.Join(fieldNames[:], ","))
		}
		f := Field(at)
		relative := len(w) > len(name)
		if i == 0 {
			if fresh = !relative; fresh {
				out = out[:0]
			}
		} else if fresh == relative {
			return nil, fmt.Errorf("fields %q: either all with + or -, or none", spec)
		}
		switch {
		case strings.HasPrefix(w, "-"):
			out = slices.DeleteFunc(out, func(g Field) bool { return g == f })
		case !slices.Contains(out, f):
			out = append(out, f)
		}
	}
	if len(out) == 0 || slices.Equal(out, []Field{mark}) {
		return nil, fmt.Errorf("fields %q: nothing is left to print", spec)
	}
	return out, nil
}
