package output

import (
	"fmt"
	"slices"
	"strings"
)

// Level is how fine the flow is printed.
type Level uint8

// The levels.
const (
	LevelInsn    Level = iota // a line an instruction
	LevelBlock                // a line a range: instructions in a row up to one that may branch
	LevelBranch               // a line a taken branch, interrupt, trap, and where tracing goes on and off
	LevelCall                 // the tree of calls
	LevelElement              // a line an element of the protocol, ranges among them
	numLevels
)

var levelNames = [numLevels]string{"insn", "block", "branch", "call", "element"}

// String returns the level's name, which also is the type of its JSON objects.
func (l Level) String() string { return levelNames[l] }

// ParseLevel is the inverse of String.
func ParseLevel(s string) (Level, error) {
	i := slices.Index(levelNames[:], s)
	if i < 0 {
		return 0, fmt.Errorf("level %q: need one of %s", s, strings.Join(levelNames[:], ", "))
	}
	return Level(i), nil
}

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
	numFields
	mark // the verdict, if it is not certain; only in defaults
)

var fieldNames = [numFields]string{
	"time", "cpu", "tid", "comm", "ip", "sym", "off", "dso", "insn", "disasm",
	"bytes", "verdict", "epoch", "flags", "addr", "count",
}

var fieldHelp = [numFields]string{
	"when, seconds with nine decimals: the lower bound of the moment; JSON: ns, with until",
	"the CPU, decimal; of an Arm snapshot the trace ID, hex; tidN for a thread's own stream",
	"the thread that ran, decimal",
	"the thread's name",
	"the address, 16 hex digits; of a branch, where it is",
	"the symbol that holds the address",
	"the address's offset in the symbol, or in the mapped file, bytes",
	"the module or file that the symbol is in",
	"what the instruction, or the last one of a block, does to the flow: other, jump, cond, call, ...",
	"the instruction disassembled",
	"the machine code, hex",
	"how the text was settled: certain, trace, exception, ambiguous",
	"the epochs, in numbers of pokes applied, for which the text is that: FROM..UNTIL, * for all",
	"the kind of a branch: call, return, jcc, jmp, int, iret, syscall, sysret, hw int, trap, tx abrt, tr strt, tr end",
	"where a branch goes, with sym, off and dso as chosen; the end of a block",
	"instructions",
}

// String returns the field's name as -F takes it.
func (f Field) String() string {
	if f < numFields {
		return fieldNames[f]
	}
	return "mark"
}

// FieldHelp returns a line a field: its name and what it holds.
func FieldHelp() string {
	var b strings.Builder
	for i, n := range fieldNames {
		fmt.Fprintf(&b, "  %-8s %s\n", n, fieldHelp[i])
	}
	return b.String()
}

// Defaults returns the fields that are printed when none are named.
func Defaults(l Level, json bool) []Field {
	if json {
		f := []Field{CPU, Time, TID, Comm, IP, Sym, Off, DSO, Verdict}
		switch l {
		case LevelBranch, LevelCall:
			f = append(f, Flags, Addr)
		case LevelBlock:
			f = append(f, Addr, Count, Insn)
		}
		return f
	}
	switch l {
	case LevelInsn:
		return []Field{CPU, Time, IP, Sym, Off, Disasm, mark}
	case LevelBlock:
		return []Field{CPU, Time, IP, Sym, Off, Count, mark}
	case LevelBranch:
		return []Field{CPU, Time, Flags, IP, Sym, Off, Addr, mark}
	}
	return []Field{CPU, TID, Time, Flags, Sym, mark}
}

// Marked reports whether lines of fields say which instructions are ambiguous.
func Marked(fields []Field) bool {
	return slices.Contains(fields, Verdict) || slices.Contains(fields, mark)
}

// ParseFields reads the argument of -F: names between commas, in the order in
// which they are printed; or +NAME and -NAME, to add to the defaults and to
// take away from them.
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
