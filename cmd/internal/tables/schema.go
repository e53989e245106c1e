// Package tables writes what ran as tables: as CSV, as Parquet, or as statements for
// sqlite3. All three have the same tables and columns (docs/exports.md). What is not known
// is 0 where it is an address, -1 where it is a number, "" where it is text.
//
// Start reading in this file, for the columns, and sink.go, which fills them.
package tables

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Kind is what a column holds.
type Kind uint8

// The kinds of columns.
const (
	Time Kind = iota // ns of the recording's clock
	Int              // signed
	Addr             // an address, or another unsigned number of 64 bits
	Text
)

// Column is a column of a table.
type Column struct {
	Name string
	Kind Kind
	Help string
}

// Table is a table.
type Table struct {
	Name    string
	Help    string
	Columns []Column
}

// The numbers of tables.
const (
	tableCalls = iota
	tableBranches
	tableBlocks
	tableInstructions
	tablePokes
	tableCrossings
	tableTraps
	tableGaps
	tableEvents
	tableSymbols
	tableVersions
)

// where is the columns that say where and when.
func where(more ...Column) []Column {
	return append([]Column{
		{"time", Time, "the earliest time at which it can have happened"},
		{"time_max", Time, "the latest"},
		{"stream", Text, "the source of the trace: cpu0"},
		{"cpu", Int, "of the stream"},
		{"tid", Int, "the thread that ran"},
		{"comm", Text, "its name"},
	}, more...)
}

// Tables are all tables, by number.
var Tables = [...]Table{
	tableCalls: {"calls", "a call of a function, in the order in which they end", where(
		Column{"end_time", Time, "the earliest time at which it can have ended"},
		Column{"end_time_max", Time, "the latest"},
		Column{"function", Text, "its symbol"},
		Column{"file", Text, "the kernel, a module, or the file that holds it"},
		Column{"addr", Addr, "its first instruction"},
		Column{"caller", Addr, "where it was entered from"},
		Column{"depth", Int, "calls that it is inside of"},
		Column{"entered", Text, "how: call, jump, interrupt, user, resumed, unseen"},
		Column{"ended", Text, "how: return, tail call, unwound, gap, end of trace"},
		Column{"total", Int, "ns that it took, by the last times that the trace stated before both ends"},
		Column{"self", Int, "without what it called, interrupts, and the time that its thread did not run"},
		Column{"instructions", Int, "with what it called"},
		Column{"self_instructions", Int, "without"},
		Column{"verdict", Text, "the least sure of what ran in it"},
	)},
	tableBranches: {"branches", "a taken branch, an interrupt, the beginning or end of tracing", where(
		Column{"kind", Text, "call, return, jump, interrupt, ..., as flow prints it"},
		Column{"source", Addr, "the branch"},
		Column{"source_symbol", Text, "the symbol that holds it"},
		Column{"target", Addr, "where it went"},
		Column{"target_symbol", Text, "the symbol that holds that"},
		Column{"verdict", Text, "how sure it is"},
	)},
	tableBlocks: {"blocks", "a run of instructions that only its last one may leave, by stream", []Column{
		{"stream", Text, "the source of the trace"},
		{"addr", Addr, "its first instruction"},
		{"end", Addr, "behind its last byte"},
		{"symbol", Text, "the symbol that holds it"},
		{"file", Text, "the kernel, a module, or the file"},
		{"instructions", Int, "in it"},
		{"executions", Int, "those that are not ambiguous"},
		{"ambiguous", Int, "those that are"},
	}},
	tableInstructions: {"instructions", "an instruction, by stream", []Column{
		{"stream", Text, "the source of the trace"},
		{"addr", Addr, "its address"},
		{"symbol", Text, "the symbol that holds its block"},
		{"file", Text, "the kernel, a module, or the file"},
		{"executions", Int, "those that are not ambiguous"},
		{"ambiguous", Int, "those that are"},
	}},
	tablePokes: {"pokes", "a recorded change to the kernel's code", []Column{
		{"poke", Int, "its number"},
		{"time", Time, "of its record"},
		{"addr", Addr, "its first byte"},
		{"symbol", Text, "the symbol that holds it"},
		{"old", Text, "bytes before, hex"},
		{"new", Text, "bytes after, hex"},
		{"kind", Text, "what it was made for"},
		{"scheme", Text, "how the kernel made it"},
		{"tid", Int, "the thread that made it"},
		{"comm", Text, "its name"},
	}},
	tableCrossings: {"crossings", "how a CPU went from the old code of a change to the new", []Column{
		{"poke", Int, "the change"},
		{"stream", Text, "the CPU's"},
		{"old", Int, "executions of the old code"},
		{"old_last", Time, "the last of them"},
		{"traps", Int, "breakpoint exceptions between"},
		{"new", Int, "executions of the new code"},
		{"new_first", Time, "the first of them"},
		{"verdict", Text, "how sure the crossing is"},
	}},
	tableTraps: {"traps", "a breakpoint exception", where(
		Column{"addr", Addr, "where it was taken"},
		Column{"symbol", Text, "the symbol that holds it"},
		Column{"kind", Text, "why the breakpoint was there"},
		Column{"poke", Int, "the change that put it there"},
		Column{"returned", Addr, "where the flow went on"},
		Column{"verdict", Text, "how sure that change is"},
	)},
	tableGaps: {"gaps", "a part of the trace that could not be followed", where(
		Column{"reason", Text, "why"},
		Column{"what", Text, "more of it"},
		Column{"ip", Addr, "where the flow was lost"},
		Column{"offset", Int, "in the stream, bytes"},
		Column{"end", Int, "of that part, bytes"},
	)},
	tableEvents: {"events", "what else the trace states: PTWRITE, power, contexts", where(
		Column{"kind", Text, "of event"},
		Column{"detail", Text, "which"},
		Column{"ip", Addr, "where"},
		Column{"value", Addr, "its payload"},
		Column{"value2", Addr, "more of it"},
	)},
	tableSymbols: {"symbols", "a symbol of the kernel", []Column{
		{"addr", Addr, "its first byte"},
		{"size", Int, "bytes"},
		{"name", Text, ""},
		{"module", Text, "\"\": the kernel itself"},
	}},
	tableVersions: {"versions", "code at a changed place, from one change to the next that touches it", []Column{
		{"addr", Addr, "its first byte"},
		{"symbol", Text, "the symbol that holds it"},
		{"bytes", Text, "hex"},
		{"since", Time, "of the change that made it; 0: it was there before"},
		{"until", Time, "of the change that ended it; 0: none did"},
		{"poke", Int, "the change that made it; -1: none"},
		{"next_poke", Int, "the change that ended it; -1: none"},
	}},
}

// Choice says which tables are written, by number.
type Choice [len(Tables)]bool

// Choose reads names of tables, separated by commas. "" is all but branches, which has more
// rows than all others together. +NAME and -NAME add to that and take away; all is all.
func Choose(list string) (c Choice, err error) {
	usual := Choice{}
	for i := range usual {
		usual[i] = i != tableBranches
	}
	if list == "" {
		return usual, nil
	}
	if list[0] == '+' || list[0] == '-' {
		c = usual
	}
	for name := range strings.SplitSeq(list, ",") {
		is := !strings.HasPrefix(name, "-")
		name = strings.TrimLeft(name, "+-")
		i := slices.IndexFunc(Tables[:], func(t Table) bool { return t.Name == name })
		switch {
		case i >= 0:
			c[i] = is
		case name == "all":
			for i := range c {
				c[i] = is
			}
		default:
			return c, fmt.Errorf("no table %q; tables are %s", name, strings.Join(Names(), ", "))
		}
	}
	if c == (Choice{}) {
		return c, errors.New("no table is left")
	}
	return c, nil
}

// Calls reports whether the table of calls is chosen.
func (c *Choice) Calls() bool { return c[tableCalls] }

// Crossings reports whether it is to be known how CPUs crossed changes.
func (c *Choice) Crossings() bool { return c[tableCrossings] }

// Names returns the names of all tables.
func Names() (list []string) {
	for i := range Tables {
		list = append(list, Tables[i].Name)
	}
	return list
}

// Value is a value of a row: N as its column has it, or S. Where it is S, N is a hint: texts
// that differ are found the faster the more their hints differ.
type Value struct {
	N uint64
	S string
}

// Encoder writes rows of Tables.
type Encoder interface {
	// Row adds a row to a table that was chosen. It may keep strings, not the slice.
	Row(table int, row []Value) error
	// Close ends what is written: no row follows. Where err is set, rows are missing. Then
	// nothing that was written may look whole, and it returns err.
	Close(err error) error
}
