package export

import (
	"bufio"
	"fmt"
	"io"

	"github.com/ptdecode/ptdecode/cmd/internal/host"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/rows"
)

// perfScript writes what perf script prints of a recording, line by line, with times in ns as
// perf script --ns prints them: linux, tools/perf/builtin-script.c.
type perfScript struct {
	*rows.Maker
	job    *job
	out    *bufio.Writer
	line   []byte
	fields perfFields
	event  string // the event that each line is of, right-justified
	skip   func(*rows.Row) bool
	errors bool // gaps are lines

	indents *perfIndents // the field callindent asks for it
	stacks  []perfStack  // the field brstack: of each stream
}

// newPerfScript returns a sink that writes branches, as perf script --itrace=be does.
func newPerfScript(j *job, w io.Writer) (host.Sink, error) {
	return perfScriptOf(j, w, rows.LevelBranch, "comm,tid,cpu,time,period,event,ip,sym,symoff,addr,dso")
}

// newPerfInsns returns a sink that writes instructions, as --itrace=i1ie does.
func newPerfInsns(j *job, w io.Writer) (host.Sink, error) {
	return perfScriptOf(j, w, rows.LevelInsn, "comm,tid,cpu,time,period,event,ip,sym,symoff,dso")
}

// newPerfCalls returns a sink that writes the tree of calls, as --itrace=cre does.
func newPerfCalls(j *job, w io.Writer) (host.Sink, error) {
	p, err := perfScriptOf(j, w, rows.LevelBranch, "comm,tid,cpu,time,flags,callindent")
	if p != nil {
		p.skip = func(r *rows.Row) bool { return r.Transfer == rows.TransferJump || r.Transfer == rows.TransferCond }
	}
	return p, err
}

// newPerfStacks returns a sink that writes stacks of branches, each branch once.
func newPerfStacks(j *job, w io.Writer) (host.Sink, error) {
	if o := &j.filter.Options; o.TIDs != nil || o.Syms != nil || o.Where != nil {
		return nil, &decoder.CallError{What: "perf-script-brstack: its branches follow one another: of the filters only --cpu and --time go with it"}
	}
	p, err := perfScriptOf(j, w, rows.LevelBranch, "ip,brstack")
	if p != nil {
		p.stacks, p.errors = make([]perfStack, len(j.session.Streams())), false
	}
	return p, err
}

// perfScriptOf returns a sink that writes rows of a level. The fields are those of
// --perf-fields, or else these.
func perfScriptOf(j *job, w io.Writer, level rows.Level, fields string) (*perfScript, error) {
	list, err := parsePerfFields(j.perfFields, fields)
	if err != nil {
		return nil, err
	}
	p := &perfScript{job: j, out: bufio.NewWriterSize(w, 1<<16), fields: list, errors: true, event: "  branches"}
	if level == rows.LevelInsn {
		p.event = "instructions"
		p.fields &^= perfFlags | perfCallIndent | perfAddr
	}
	if list&perfCallIndent != 0 {
		p.indents = &perfIndents{threads: map[int64]*perfThread{}}
	}
	o := j.filter.Options
	o.Level, o.RawTraps, o.Gaps = level, true, true
	p.Maker = rows.New(j.session, j.filter.Streams, j.filter.Query.Streams, o, p.take)
	return p, nil
}

// take writes the line of r.
func (p *perfScript) take(r *rows.Row) error {
	switch {
	case r.Kind == rows.KindGap:
		return p.failed(r)
	case r.Verdict == decoder.Ambiguous && !p.job.ambiguous:
		return p.flush(r) // the branches around it do not follow one another
	case p.skip != nil && p.skip(r):
		return nil
	case p.stacks != nil:
		return p.stack(r)
	}
	return p.print(r, nil)
}

// Close writes what is still in hand.
func (p *perfScript) Close() error {
	err := p.Maker.Close()
	for i := range p.stacks {
		if e := p.flush(&p.stacks[i].last); err == nil {
			err = e
		}
	}
	if e := p.out.Flush(); err == nil {
		err = e
	}
	return err
}

// failed writes a gap, in the words of perf's auxtrace_error__fprintf.
func (p *perfScript) failed(r *rows.Row) error {
	if err := p.flush(r); err != nil || !p.errors {
		return err
	}
	at := "0"
	if t := r.Time.Lo; t != 0 {
		at = fmt.Sprintf("%d.%09d", t/1e9, t%1e9)
	}
	tid, _ := p.Names().Thread(r)
	pid := min(tid, 0) // of idle tasks; else it is not known
	if tid > 0 {
		pid = -1
	}
	code, what := perfError(r.Note.Gap.Reason)
	_, err := fmt.Fprintf(p.out, " instruction trace error type 1 time %s cpu %d pid %d tid %d ip %#x code %d: %s\n",
		at, r.Stream.CPU, pid, tid, r.IP, code, what)
	return err
}

// perfError returns perf's code of a gap and its words: linux,
// tools/perf/util/intel-pt-decoder/intel-pt-decoder.h, enum INTEL_PT_ERR_NOMEM and on.
func perfError(why event.Reason) (int, string) {
	switch why {
	case event.BadPacket:
		return 3, "Bad packet"
	case event.Truncated:
		return 4, "No more data"
	case event.NoText, event.BadInsn:
		return 5, "Failed to get instruction"
	case event.Mismatch, event.Reserved:
		return 6, "Trace doesn't match instruction"
	case event.OverflowGap:
		return 7, "Overflow packet"
	case event.Lost, event.NoSync:
		return 8, "Lost trace data"
	case event.Loop:
		return 10, "Never-ending loop (refer perf config intel-pt.max-loops)"
	}
	return 9, "Unknown error!"
}
