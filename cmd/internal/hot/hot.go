// Package hot is the verb that says what was executed most: functions, source lines,
// blocks, edges or instructions. Package counts counts it.
//
// Start reading in this file. annotate.go lists the instructions of one function.
package hot

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ptdecode/ptdecode/cmd/internal/counts"
	"github.com/ptdecode/ptdecode/cmd/internal/host"
	"github.com/ptdecode/ptdecode/cmd/internal/plural"
	"github.com/ptdecode/ptdecode/decoder"
)

// long is the help of the verb.
const long = `Count what was executed, and list what was executed most. The count of a function is
that of its first instruction. A block is instructions in a row up to one that may
branch. An edge is a branch that was taken, or that was passed without being taken. The
count of a source line is that of its most executed instruction.

Nothing is sampled: the counts are of all executions in the trace. Ambiguous ones have
a column of their own. Lines count them in executions and instructions, too. Objects count
them in ambiguous and ambiguous_instructions alone.

With --by block and --annotate, code that was changed has a line for each of its versions:
epoch N is after N changes. --annotate also prints source lines, if there is DWARF and the
file is on this machine.

--sort time prints the time, too. The time between two timestamps of the trace is divided
evenly among the instructions that the CPU executed between them, whatever the filters.
If tracing was off in between, as in user space, that time is theirs, too. Time in which
tracing was surely off is nobody's, and so is the time around a gap. Where no time is
known, there is a dash.

The closer the timestamps, the better that is. A wait, as of an idle CPU, is divided
likewise: what ran just before has most of it. The verb calls gives all of that time to
the call in which the later timestamp comes. So use calls for how long functions and
waits take, and hot for instructions, lines and blocks.

--sym and --dso choose blocks by their first instruction, --addr those that lie there, or
partly. Such a block counts whole.

The exit code is 3 if there are gaps: what ran in a gap is not counted.`

// New returns the verb.
func New(h *host.Host) *cobra.Command {
	var o options
	c := &cobra.Command{
		Use:   "hot REC",
		Short: "say what was executed most: functions, blocks, branches, or the instructions of a function",
		Long:  long,
		Example: `  ptdecode hot perf.data
  ptdecode hot perf.data --by edge --sym schedule
  ptdecode hot perf.data --by cpu --sym 'vfs_*'  # functions, on each CPU apart
  ptdecode hot perf.data --sort time --cpu 1 --time 5.5,5.6
  ptdecode hot perf.data --annotate __schedule   # instructions and versions
  ptdecode hot perf.data -o jsonl | jq -r 'select(.executions > 1000) | .sym'`,
		Args: host.MaxArgs(1),
	}
	o.addFlags(c)
	filters, share := h.Filters(c), h.Share(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := cmp.Or(o.check(c), o.whose(args)); err != nil {
			return err
		}
		s, f, err := h.OpenPart(args, filters)
		if err != nil {
			return err
		}
		defer s.Close()
		f.Query.Bounds = f.Query.Bounds || o.sort == sortTime // of when tracing went off
		if done, err := share(s, f.Query, args); done || err != nil {
			return err
		}
		counter := counts.New(s, f, counts.Options{Time: o.sort == sortTime, CPUs: o.by == byCPU})
		if err := h.Deliver(c.Context(), s, f.Query, counter); err != nil {
			return err
		}
		return o.show(h, s, f, counter)
	}
	return c
}

// show prints what counter counted of s, and says what is open about it.
func (o *options) show(h *host.Host, s *decoder.Session, f *host.Filter, counter *counts.Counter) error {
	o.width = h.Columns()
	l := &list{s: s, o: o, counter: counter, names: counts.NewNames(s)}
	w := bufio.NewWriter(h.Out)
	if err := l.all(w); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	n := &counter.Instructions
	switch unnamed := l.unnamed; {
	case n.N+n.Ambiguous == 0:
		h.Nothing(s, f, "nothing of the flow")
	case l.unlined > (n.N+n.Ambiguous)/2:
		h.Say("%d of %s %s no known source line: %s code has no DWARF", l.unlined, plural.Count(n.N+n.Ambiguous, "instruction"), plural.Word(l.unlined, "has", "have"), plural.Word(l.unlined, "its", "their"))
		h.Hint("%s", host.NoLines)
	case unnamed > (n.N+n.Ambiguous)/2:
		h.Say("%d of %s %s to no known function: %s code has no symbols", unnamed, plural.Count(n.N+n.Ambiguous, "instruction"), plural.Word(unnamed, "belongs", "belong"), plural.Word(unnamed, "its", "their"))
		h.Hint("--by block lists code by address; symbols come from --kallsyms FILE, or from ELF files")
	}
	if o.sort == sortTime {
		l.tellUntimed(h)
	}
	if n.Ambiguous > 0 {
		h.Say("%d of %s %s ambiguous: the likeliest of several, or before a gap where trace and code differ", n.Ambiguous, plural.Count(n.N+n.Ambiguous, "instruction"), plural.Word(n.Ambiguous, "is", "are"))
	}
	return h.Whole(s, counter.Gaps)
}

// byCPU is the value of --by that tells functions apart by where they ran.
const byCPU = "cpu"

// The values of --sort.
const (
	sortInstructions = "instructions"
	sortExecutions   = "executions"
	sortTime         = "time"
)

// options are the flags of hot.
type options struct {
	by, sort, format, annotate string
	first                      int
	width                      int // columns; 0: any

	addr          uint64 // in the function to annotate
	byAddr, found bool   // annotate has it, and is the function's name once that is found
}

var (
	bys   = []string{"function", "block", "edge", "line", byCPU}
	sorts = []string{sortInstructions, sortExecutions, sortTime}
)

func (o *options) addFlags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&o.by, "by", "function", "list `"+strings.Join(bys, "|")+"`; cpu: functions, for each CPU apart")
	f.StringVar(&o.sort, "sort", "", "most `"+strings.Join(sorts, "|")+"` first (default instructions; of edges, executions)")
	f.StringVar(&o.annotate, "annotate", "", "list the instructions of the function `FUNC`, a name or 0xADDRESS in it, with the versions of its code that ran")
	f.IntVar(&o.first, "first", 0, "only the first `N` lines (default: 30 lines of text, all objects)")
	f.StringVarP(&o.format, "output", "o", "text", "lines or JSON objects: `text|jsonl`")
	for flag, values := range map[string][]string{"by": bys, "sort": sorts, "output": {"text", "jsonl"}} {
		_ = c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	}
}

// check returns an error if the flags do not go together.
func (o *options) check(c *cobra.Command) error {
	usage := func(format string, args ...any) error { return &decoder.CallError{What: fmt.Sprintf(format, args...)} }
	switch {
	case !slices.Contains(bys, o.by):
		return usage("--by %q: need one of %s", o.by, strings.Join(bys, ", "))
	case o.sort != "" && !slices.Contains(sorts, o.sort):
		return usage("--sort %q: need one of %s", o.sort, strings.Join(sorts, ", "))
	case o.format != "text" && o.format != "jsonl":
		return usage("--output %q: need text or jsonl", o.format)
	case c.Flags().Changed("first") && o.first < 1:
		return usage("--first %d: need 1 or more", o.first)
	case o.by == "edge" && o.sort != "" && o.sort != sortExecutions:
		return usage("--by edge: edges have executions only: --sort %s does not go with it", o.sort)
	case o.annotate != "" && (c.Flags().Changed("by") || o.sort == sortExecutions || o.sort == sortInstructions || c.Flags().Changed("first")):
		return usage("--annotate lists all instructions of a function in order: --by, --first and --sort do not go with it, but for --sort time")
	}
	if hex, ok := strings.CutPrefix(o.annotate, "0x"); ok {
		var err error
		if o.addr, err = strconv.ParseUint(hex, 16, 64); err != nil {
			return usage("--annotate %s: it is no address", o.annotate)
		}
		o.byAddr = true
	}
	if o.sort == "" {
		o.sort = sortInstructions
		if o.by == "edge" {
			o.sort = sortExecutions
		}
	}
	return nil
}

// whose returns an error where --annotate has taken the recording for the function.
func (o *options) whose(args []string) error {
	if _, err := os.Stat(o.annotate); o.annotate == "" || err != nil || len(args) > 0 {
		return nil
	}
	return &decoder.CallError{What: fmt.Sprintf("--annotate %s: the function is missing, and that is a file: need --annotate FUNC REC", o.annotate)}
}

// list prints what was counted.
type list struct {
	s       *decoder.Session
	o       *options
	counter *counts.Counter
	names   *counts.Names
	unnamed uint64 // instructions of functions without a name
	unlined uint64 // instructions without a source line, of --by line
	w       *bufio.Writer
}

// all prints what the options ask for.
func (l *list) all(w *bufio.Writer) error {
	l.w = w
	if l.o.annotate != "" {
		return l.annotated()
	}
	switch l.o.by {
	case "block":
		return l.lines(l.blocks())
	case "edge":
		return l.lines(l.edges())
	case "line":
		return l.lines(l.sourceLines())
	case byCPU:
		return l.lines(l.functionsByCPU())
	}
	return l.lines(l.functions())
}

// entry is a line: of it stand the fields that its kind has.
type entry struct {
	Type         string      `json:"type"` // function, block, edge, line, instruction, trap
	Guest        int32       `json:"guest,omitempty"`
	By           string      `json:"by,omitempty"` // of --by cpu: where it ran
	Sym          string      `json:"sym,omitempty"`
	Off          uint64      `json:"off,omitempty"`
	File         string      `json:"file,omitempty"`
	Line         int         `json:"line,omitempty"`
	Source       string      `json:"source,omitempty"` // of an instruction: what that line says, if the file is here
	Addr         string      `json:"addr"`
	End          string      `json:"end,omitempty"`
	To           string      `json:"to,omitempty"`
	ToSym        string      `json:"to_sym,omitempty"`
	ToOff        uint64      `json:"to_off,omitempty"`
	ToFile       string      `json:"to_file,omitempty"`
	Class        string      `json:"class,omitempty"`
	Taken        *bool       `json:"taken,omitempty"`
	Bytes        string      `json:"bytes,omitempty"`
	Disasm       string      `json:"disasm,omitempty"`
	Epochs       [][2]*int64 `json:"epochs,omitempty" schema:"span"` // spans: from, and until; null: no end
	Executions   uint64      `json:"executions"`
	Instructions uint64      `json:"instructions"`
	Ambiguous    uint64      `json:"ambiguous"` // executions
	AmbiguousI   uint64      `json:"ambiguous_instructions"`
	Time         float64     `json:"time_ns,omitempty"`

	addr uint64
	at   map[uint64]counts.Count // of a line: by address
}

// weight returns what entries are sorted by.
func (e *entry) weight(by string) float64 {
	switch by {
	case sortExecutions:
		return float64(e.Executions + e.Ambiguous)
	case sortTime:
		return e.Time
	}
	return float64(e.Instructions + e.AmbiguousI)
}

// lines sorts entries and prints them.
func (l *list) lines(all []*entry) error {
	slices.SortStableFunc(all, func(a, b *entry) int {
		x, y := a.weight(l.o.sort), b.weight(l.o.sort)
		switch {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		if l.o.sort != sortTime {
			return 0
		}
		return cmp.Compare(b.weight(sortInstructions), a.weight(sortInstructions)) // of those without a time
	})
	n, sum := l.o.first, 0.0
	for _, e := range all {
		sum += e.weight(l.o.sort)
	}
	if n == 0 && l.o.format == "text" {
		n = 30
	}
	if n == 0 || n > len(all) {
		n = len(all)
	}
	if l.o.format == "jsonl" {
		return l.objects(all[:n])
	}
	l.heading()
	for _, e := range all[:n] {
		l.line(e, sum)
	}
	if n < len(all) {
		fmt.Fprintf(l.w, "# %d more; --first N lists more of them\n", len(all)-n)
	}
	return nil
}

// objects prints entries as JSON Lines.
func (l *list) objects(all []*entry) error {
	j := json.NewEncoder(io.Writer(l.w))
	j.SetEscapeHTML(false)
	for _, e := range all {
		if err := j.Encode(e); err != nil {
			return err
		}
	}
	return nil
}
