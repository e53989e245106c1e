package export

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ptdecode/ptdecode/cmd/internal/counts"
	"github.com/ptdecode/ptdecode/cmd/internal/host"
	"github.com/ptdecode/ptdecode/cmd/internal/tables"
	"github.com/ptdecode/ptdecode/cmd/internal/vmlinux"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/report"
)

// format is one form in which a recording's flow is handed on. A new one is a file of
// its own, and a row of the table formats. It sets one of counted, flow and files.
type format struct {
	name string
	help string // a line, without a full stop

	// counted writes what was executed how often, when all of it has been decoded.
	counted func(j *job, w io.Writer) error
	// groups is what a counted format tells apart.
	groups counts.Options
	// divides says that --per may divide a counted format into files.
	divides bool

	// flow returns a sink that writes as the flow comes: of each stream in order.
	flow func(j *job, w io.Writer) (host.Sink, error)
	// files is flow for a format that makes its files itself, at path: a directory, or a
	// file that it seeks in. It does not write to standard output.
	files func(j *job, path string) (host.Sink, error)
	// What the sinks of flow and files need:
	merged bool // the flow of all streams in the order of time
	bounds bool // the nearest upper bounds of times
	stacks bool // what ran shortly before the time asked for: stacks that are open then

	reads []string // the flags that say something of this format, of those that do not of all
}

// job is what formats write of.
type job struct {
	host      *host.Host
	session   *decoder.Session
	filter    *host.Filter
	ambiguous bool          // --with-ambiguous
	object    string        // --object
	depth     int           // --depth
	shortest  time.Duration // --min-duration
	per       string        // --per
	kernel    *vmlinux.File // --vmlinux

	tables     tables.Choice // --tables
	perfFields string        // --perf-fields

	// What counted formats write of. They share one Counter.
	counter *counts.Counter
	// tallied says that a sink counts as the counter would, and adds it at the end.
	tallied bool
	// part is what is written of it, and partOf its name, while --per divides; nil: all of it.
	part     *counts.Table
	partOf   string
	syscalls *syscalls // nil: --per does not ask for them
	// crossed collects how CPUs cross changes to the code; nil: no format asks for it.
	crossed *report.Crossings
	told    bool // a sink tells it of ranges, as it goes over all
	// leftOut is instructions executed that the format has no place for, by why that is. A
	// counted format sets it, and the command says so.
	leftOut map[string]uint64
	hint    string // what to do about that; may be empty
	written bool   // something is written, to one of the files with --per
	empty   string // why nothing is, where that is said
}

// formats is the table of formats, in the order of the help.
var formats = []format{
	{name: "autofdo", help: "ranges and branches of one file, as google/autofdo reads", counted: writeAutoFDO, groups: runs, reads: []string{"object"}},
	{name: "bolt", help: "the same for BOLT: perf2bolt --pa", counted: writeBolt, groups: runs, reads: []string{"object"}},
	{name: "profgen", help: "the same for llvm-profgen --unsymbolized-profile", counted: writeProfgen, groups: runs, reads: []string{"object"}},
	{name: "pprof", help: "instructions, time and calls by stack, CPU and thread, for go tool pprof", flow: newPprof, merged: true, bounds: true, stacks: true},
	{name: "drcov", help: "executed blocks of all files, as Lighthouse and drcov2lcov read", counted: writeDrcov, divides: true},
	{name: "folded", help: "stacks of calls with their instructions, as flamegraph.pl and speedscope read", flow: newFolded, merged: true, stacks: true},
	{name: "folded-time", help: "the same with nanoseconds", flow: newFoldedTime, merged: true, stacks: true},
	{name: "lcov", help: "source lines, functions and branches, as lcov and genhtml read", counted: writeLcov, divides: true, reads: []string{"object"}},
	{name: "pcs", help: "the first address of each executed block, as syzkaller's syz-cover reads", counted: writePCs, divides: true},
	{name: "perf-script", help: "branches as perf script --ns prints them, and gaps as its errors", flow: newPerfScript, merged: true, bounds: true, reads: []string{"perf-fields"}},
	{name: "perf-script-brstack", help: "the same branches in stacks, as perf script -F brstack prints", flow: newPerfStacks, merged: true, bounds: true, reads: []string{"perf-fields"}},
	{name: "perf-script-calls", help: "calls and returns, indented: perf script --itrace=cre", flow: newPerfCalls, merged: true, bounds: true, reads: []string{"perf-fields"}},
	{name: "perf-script-insns", help: "each instruction: perf script --itrace=i1ie", flow: newPerfInsns, merged: true, bounds: true, reads: []string{"perf-fields"}},
	{name: "perf-script-stacks", help: "samples with stacks, as stackcollapse-perf.pl and speedscope read", flow: newPerfSamples, merged: true, bounds: true, stacks: true, reads: []string{"perf-fields"}},
	{name: "perfetto", help: "calls, threads, changes to the code and what else ran, for ui.perfetto.dev", flow: newPerfetto, merged: true, bounds: true, reads: []string{"depth", "min-duration"}},
	{name: "csv", help: "a directory of tables: calls, branches, blocks, changes to the code, ...", files: newCSV, merged: true, bounds: true, reads: []string{"tables"}},
	{name: "parquet", help: "the same tables for DuckDB, pandas and Spark", files: newParquet, merged: true, bounds: true, reads: []string{"tables"}},
	{name: "sqlite", help: "the same tables as statements: sqlite3 FILE.db < FILE", flow: newSQLite, merged: true, bounds: true, reads: []string{"tables"}},
}

// formatNamed returns the format of a name, nil if there is none.
func formatNamed(name string) *format {
	for i := range formats {
		if formats[i].name == name {
			return &formats[i]
		}
	}
	return nil
}

// unread returns an error if the call has a flag that says nothing of any of the targets.
func unread(c *cobra.Command, targets []target) error {
	for _, name := range []string{"depth", "min-duration", "object", "perf-fields", "tables"} {
		reads := func(f *format) bool { return slices.Contains(f.reads, name) }
		if !c.Flags().Changed(name) || slices.ContainsFunc(targets, func(t target) bool { return reads(t.format) }) {
			continue
		}
		var chosen, readers []string
		for _, t := range targets {
			chosen = append(chosen, t.format.name)
		}
		for i := range formats {
			if reads(&formats[i]) {
				readers = append(readers, formats[i].name)
			}
		}
		return &decoder.CallError{What: fmt.Sprintf("--%s %s: it goes with %s, not with %s",
			name, c.Flags().Lookup(name).Value, strings.Join(readers, ", "), strings.Join(chosen, ", "))}
	}
	return nil
}

// formatNames returns the names of all formats.
func formatNames() (names []string) {
	for i := range formats {
		names = append(names, formats[i].name)
	}
	return names
}
