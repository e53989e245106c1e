package summary

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/ptdecode/ptdecode/cmd/internal/plural"
	"github.com/ptdecode/ptdecode/cmd/internal/terminal"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// Print prints r for people.
func (r *Info) Print(w io.Writer) {
	row := func(name, format string, args ...any) {
		fmt.Fprintf(w, "%-10s %s\n", name, terminal.Plain(strings.TrimRight(fmt.Sprintf(format, args...), " ")))
	}
	row("recording", "%s (%s)", r.Name, r.Kind)
	if r.Release != "" || r.Host != "" {
		row("machine", "%s, Linux %s", r.Host, r.Release)
	}
	if r.CPUName != "" || r.CPUModel != "" {
		row("cpu", "%s %s", r.CPUName, r.CPUModel)
	}
	if r.Command != "" {
		row("command", "%s", r.Command)
	}
	for _, e := range r.Events {
		row("event", "type %d, config %s %s", e.Type, e.Config, e.Name)
	}
	r.printTrace(row)
	row("pokes", "%d%s%s", r.Pokes.Total, counts(r.Pokes.Kinds), span(r.Pokes.From, r.Pokes.To))
	if r.Pokes.Broken > 0 {
		row("", "%d of them %s a change that was not recorded: see ptdecode check", r.Pokes.Broken, plural.Word(r.Pokes.Broken, "shows", "show"))
	}
	for _, x := range r.Sources {
		row(x.Kind, "%s", x.Path)
	}
	row("text", "%d KiB in %s", r.Image.Bytes>>10, plural.Count(r.Image.Ranges, "range"))
	if r.Image.Sites > 0 {
		differ := ""
		if r.Image.Differ > 0 {
			differ = fmt.Sprintf("; %d %s as at no time of the recording", r.Image.Differ, plural.Word(r.Image.Differ, "is", "are"))
		}
		folded(row, "", fmt.Sprintf("it holds %d of %s, as they were after %d of %s%s", r.Image.Held, plural.Count(r.Image.Sites, "poked site"), r.Image.Epoch, plural.Count(r.Pokes.Total, "poke"), differ))
	}
	row("symbols", "%d", r.Symbols)
	if len(r.Records) > 0 {
		var list []string
		for _, k := range slices.Sorted(maps.Keys(r.Records)) {
			list = append(list, fmt.Sprintf("%s %d", k, r.Records[k]))
		}
		folded(row, "records", strings.Join(list, ", "))
	}
	for _, m := range r.Missing {
		row("missing", "%s", m.What)
		if m.Hint != "" {
			row("", "hint: %s", m.Hint)
		}
	}
}

// folded prints s in lines that fit a screen of 80 columns, if its words do.
func folded(row func(name, format string, args ...any), name, s string) {
	const most = 80 - 11
	for len(s) > most {
		at := strings.LastIndexByte(s[:most+1], ' ')
		if at < 0 {
			break
		}
		row(name, "%s", s[:at])
		name, s = "", s[at+1:]
	}
	row(name, "%s", s)
}

// printTrace prints the buffers and the streams by row.
func (r *Info) printTrace(row func(name, format string, args ...any)) {
	for _, b := range r.Buffers {
		read := "not read: --buffer " + b.Name
		switch {
		case b.Missing:
			read = "cannot be read, see below"
		case b.Read:
			read = "read"
		}
		row("buffer", "%s: %s, %s, %s (%s)", b.Name, b.File, plural.Count(b.Bytes, "byte"), b.Format, read)
		if b.Unowned > 0 {
			row("", "%s of trace %s before the first trace ID: of which source is not known", plural.Count(b.Unowned, "byte"), plural.Word(b.Unowned, "comes", "come"))
		}
	}
	for _, st := range r.Streams {
		part := ""
		if st.Until > 0 {
			part = fmt.Sprintf(" in the first %d MiB", st.Until>>20)
		}
		row("trace", "%s: %s, segments: %d%s%s", st.Name, plural.Count(st.Bytes, "byte"), st.Segments, part, span(st.From, st.To))
		if st.ID != "" {
			row("", "%s", st.source())
		}
		if st.Missing > 0 {
			row("", "%s that %s to follow %s missing: the file is cut short", plural.Count(st.Missing, "byte"), plural.Word(st.Missing, "was", "were"), plural.Word(st.Missing, "is", "are"))
		}
		if st.Head > 0 {
			row("", "%s before the first sync point %s not decoded", plural.Count(st.Head, "byte"), plural.Word(st.Head, "is", "are"))
		}
		for _, l := range st.Losses {
			at := fmt.Sprintf("%s+0x%x", st.Name, l.Off)
			if l.FileOff != nil {
				at += fmt.Sprintf(" (%s+0x%x)", l.File, *l.FileOff)
			}
			row("", "lost at %s: %s", at, l.Why)
		}
	}
	if r.Config != nil {
		row("timing", "%s", r.Config.timing())
	}
}

// source renders what a stream of CoreSight is.
func (st *stream) source() string {
	s := strings.TrimRight("trace ID "+st.ID+": "+st.Protocol+" "+st.Version, " ")
	if st.Source != "" {
		s += ", " + st.Source
	}
	if st.Buffer != "" {
		s += " in " + st.Buffer
	}
	if st.Core != "" {
		s += ", traces " + st.Core
	}
	if st.Arch != "" {
		s += ", " + st.Arch
	}
	return s
}

// timing renders which clocks the trace has.
func (c *config) timing() string {
	var list []string
	if c.TSC {
		list = append(list, "TSC")
	}
	if c.MTC {
		list = append(list, fmt.Sprintf("MTC each %d crystal ticks (TSC:crystal %d:%d)", c.MTCPeriod, c.CTCNum, c.CTCDen))
	}
	if c.CYC {
		list = append(list, fmt.Sprintf("CYC (ratio %d)", c.Ratio))
	}
	if len(list) == 0 {
		list = append(list, "not known")
	}
	if !c.Time {
		list = append(list, "no conversion to the clock of records")
	}
	if !c.RetComp {
		list = append(list, "returns not compressed")
	}
	if c.NoTNT {
		list = append(list, "no branch outcomes (notnt)")
	}
	if c.Events {
		list = append(list, "events of the CPU")
	}
	if c.Filter != "" {
		list = append(list, "filtered by address ("+c.Filter+")")
	}
	if c.Snapshot {
		list = append(list, "snapshots")
	}
	return strings.Join(list, ", ")
}

// span renders from and to in seconds.
func span(from, to uint64) string {
	if from == 0 && to == 0 {
		return ""
	}
	return fmt.Sprintf(", %d.%09d to %s", from/1e9, from%1e9, event.Seconds(to))
}

// counts renders how many there are of each kind, the most first.
func counts(m map[string]int) string {
	keys := slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		if m[a] != m[b] {
			return m[b] - m[a]
		}
		return strings.Compare(a, b)
	})
	var list []string
	for _, k := range keys {
		list = append(list, fmt.Sprintf("%d %s", m[k], k))
	}
	if len(list) == 0 {
		return ""
	}
	return ": " + strings.Join(list, ", ")
}
