package main

import (
	"bufio"
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/ptdecode/ptdecode/cmd/internal/filter"
	"github.com/ptdecode/ptdecode/cmd/internal/marks"
	"github.com/ptdecode/ptdecode/cmd/internal/story"
	"github.com/ptdecode/ptdecode/cmd/internal/terminal"
	"github.com/ptdecode/ptdecode/cmd/ptdecode/internal/output"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/report"
	"github.com/ptdecode/ptdecode/kcore"
)

// pokesFlags are the flags of pokes.
type pokesFlags struct {
	where   filter.Flags
	by      madeBy
	traps   bool
	noFlow  bool
	learned bool
	asJSON  bool
	first   int // 0: all
}

// enough reports whether so many are all that were asked for.
func (o *pokesFlags) enough(printed int) bool { return o.first > 0 && printed == o.first }

// newPokesCmd is the verb that prints the changes to the code.
func newPokesCmd(a *app) *cobra.Command {
	var o pokesFlags
	c := withObjects(&cobra.Command{
		Use:   "pokes REC",
		Short: "print every change that the kernel made to its code",
		Long: `Print every recorded change to the kernel's code (poke), in order of time: when,
by which CPU, where, what for, and under which scheme. Print the old code and the
new, and whether the old code is what was there. A change without a record
shows as a "break" at the next record of its address, with both byte strings.

If there is trace and code, the trace is decoded. Below each change is a line for
each CPU that executed code there. It says how often the CPU executed the old code
and when last, and which breakpoint exceptions it took. Then it says how often the
CPU executed the new code and when first, and the verdict. --no-flow leaves this out
and decodes nothing.

--learned prints instead the code that no record has and that the trace shows, where
trace and code contradict each other. Save it with -o jsonl to give it to other verbs
with --learned FILE.

After the "#" of a line are the number of the change and the thread that made it.
--kind, --cpu, --tid and --comm select changes by these; with --traps they select the
traps that CPUs took because of such changes. --time takes a change by its recorded
time, a trap by its bounds. A part of the trace, as 0%-10%, has no changes from before
the trace's first time or after its last: ,10% has those before, too.

--poke N prints all that is known of one change: the code around it before and after,
who made it and from which calls. It also says how each CPU went from the old code to
the new, and which threads ran through it. N may be a range, as 5-8.

--traps prints the breakpoint exceptions that CPUs took instead: in the window of
a change, at an armed probe, or in a slot. They come from the flow, so the trace
is decoded. ptdecode help words explains poke, scheme, window, armed and slot.`,
		Example: `  ptdecode pokes perf.data
  ptdecode pokes perf.data --sym try_to_wake_up --time 4.5,4.6
  ptdecode pokes perf.data -o jsonl | jq 'select(.valid | not)'
  ptdecode pokes perf.data --no-flow --kind jump-label --comm 'perf*'
  ptdecode pokes perf.data --traced             # only of code that ran
  ptdecode pokes perf.data --poke 385           # all that is known of one
  ptdecode pokes perf.data --poke 380-385 -o jsonl | jq '{index, comm, path}'
  ptdecode pokes perf.data --traps
  ptdecode pokes perf.data --learned -o jsonl >learned.jsonl
  ptdecode pokes snapshot/ --events e.jsonl     # changes recorded beside it
  ptdecode pokes perf.data --kallsyms kallsyms  # Arm: changes from breakpoints`,
	}, func(c *cobra.Command, asJSON bool, args []string) error {
		o.asJSON = asJSON
		return a.pokes(c, &o, args)
	})
	f := c.Flags()
	o.where.Add(f, "time", "sym", "addr")
	o.by.flags(f)
	f.BoolVar(&o.noFlow, "no-flow", false, "only what the records say: do not decode the trace")
	f.BoolVar(&o.learned, "learned", false, "print what was learned of the code from the trace")
	f.BoolVar(&o.traps, "traps", false, "print the breakpoint exceptions taken")
	complete(c, "kind", marks.Kinds()...)
	f.IntVar(&o.first, "first", 0, "only the first `N` changes; with --traps, exceptions")
	return c
}

func (a *app) pokes(c *cobra.Command, o *pokesFlags, args []string) error {
	p, err := o.filter()
	if err != nil {
		return err
	}
	if o.first < 0 || c.Flags().Changed("first") && o.first == 0 {
		return usagef("--first %d: need 1 or more", o.first)
	}
	if o.traps && o.noFlow {
		return usagef("--traps come from the flow: --no-flow does not go with it")
	}
	if o.learned && (o.noFlow || o.traps) {
		return usagef("--learned comes from the flow, and replaces the changes: --no-flow and --traps do not go with it")
	}
	for _, name := range []string{"time", "poke", "kind", "cpu", "tid", "comm"} {
		if o.learned && c.Flags().Changed(name) {
			return usagef("--learned lists code of which no record tells: --%s chooses by records, and does not go with it", name)
		}
	}
	if o.by.traced && (o.noFlow || o.traps || o.learned) {
		return usagef("--traced asks the flow which changed code ran: --no-flow, --traps and --learned do not go with it")
	}
	flow := o.traps || o.learned
	s, err := a.sessionFor(args, func(w *decoder.Warning) bool { return flow && !w.NoTrace || !flow && !w.NoText })
	if err != nil {
		return err
	}
	defer s.Close()
	w := bufio.NewWriterSize(a.lines(o.asJSON, 6), 1<<16)
	if err := p.resolve(s); err != nil {
		return err
	}
	if err := p.absent(s); err != nil {
		return err
	}
	if flow && noBytes(s) {
		return noTrace(s)
	}
	err = a.pokesOf(c, o, &p, s, w)
	for _, g := range decoder.Guests(s) {
		if e := a.pokesOf(c, o, &p, g, w); err == nil {
			err = e
		}
	}
	if e := w.Flush(); e != nil {
		return e
	}
	return err
}

// pokesOf prints what is asked for of one machine.
func (a *app) pokesOf(c *cobra.Command, o *pokesFlags, p *pokeFilter, s *decoder.Session, w io.Writer) error {
	p.number(s)
	switch {
	case o.traps:
		return a.traps(c, o, p, s, w)
	case o.learned:
		return a.learned(c, o, p, s, w)
	}
	return a.printPokes(c, w, s, p, o)
}

// printPokes prints the pokes that pass.
func (a *app) printPokes(c *cobra.Command, w io.Writer, s *decoder.Session, p *pokeFilter, o *pokesFlags) error {
	ps := p.passing(s)
	some := false
	for range ps {
		some = true
		break
	}
	if !some {
		a.ui.noPoke(p, s, pokeFilters(c))
	}
	a.ui.noChange(s, &a.open)
	if some && o.by.pokes != nil {
		return a.stories(c, w, s, p, o)
	}
	var crossings map[int][]report.Crossing
	gaps := uint64(0)
	if some && !o.noFlow && decodable(s) {
		var err error
		crossings, gaps, err = (&report.Crossings{Session: s}).Decode(c.Context(), decoder.Query{Jobs: a.open.jobs, Progress: a.ui.progress})
		a.ui.done()
		if err != nil {
			return err
		}
	}
	printed := 0
	for k := range ps {
		var err error
		if o.by.traced && len(crossings[k.Index]) == 0 {
			continue
		}
		if o.enough(printed) {
			break
		}
		printed++
		if o.asJSON {
			err = printJSON(w, story.New(s, &k, crossings[k.Index]))
		} else {
			err = printPoke(w, s, &k, crossings[k.Index])
		}
		if err != nil {
			return err
		}
	}
	if some && printed == 0 {
		a.ui.noPoke(p, s, pokeFilters(c))
	}
	return a.gapsElsewhere(s, gaps)
}

// decodable reports whether there are trace and code.
func decodable(s *decoder.Session) bool { return !noBytes(s) && len(s.Text().Image().Ranges()) > 0 }

// tellPoke writes all that is known of k as an object.
func (a *app) tellPoke(ctx context.Context, w io.Writer, s *decoder.Session, k *decoder.PokeInfo) error {
	x := story.Source{Session: s, Streams: outputStreams(s), Jobs: a.open.jobs, NoFlow: !decodable(s)}
	list, _, err := x.Whole(ctx, k.Index)
	if err == nil {
		err = printJSON(w, list[0])
	}
	return err
}

// stories tells all that is known of each poke that passes.
func (a *app) stories(c *cobra.Command, w io.Writer, s *decoder.Session, p *pokeFilter, o *pokesFlags) error {
	x := story.Source{Session: s, Streams: outputStreams(s), Jobs: a.open.jobs, Progress: a.ui.progress, NoFlow: o.noFlow || !decodable(s)}
	var numbers []int
	for k := range p.passing(s) {
		numbers = append(numbers, k.Index)
	}
	list, gaps, err := x.Whole(c.Context(), numbers...)
	a.ui.done()
	if err != nil {
		return err
	}
	printed := 0
	for _, k := range list {
		if o.by.traced && len(k.CPUs) == 0 {
			continue
		}
		if o.enough(printed) {
			break
		}
		switch {
		case o.asJSON:
			err = printJSON(w, k)
		case printed > 0:
			if _, err = io.WriteString(w, "\n"); err == nil {
				err = k.Print(w)
			}
		default:
			err = k.Print(w)
		}
		if err != nil {
			return err
		}
		printed++
	}
	if printed == 0 {
		a.ui.noPoke(p, s, pokeFilters(c))
	}
	return a.gapsElsewhere(s, gaps)
}

// printPoke prints a poke as a line, and one for each CPU that came there.
func printPoke(w io.Writer, s *decoder.Session, k *decoder.PokeInfo, crossings []report.Crossing) error {
	cpu := "[---" + ofGuest(s) + "]"
	if k.CPU >= 0 {
		cpu = fmt.Sprintf("[%03d%s]", k.CPU, ofGuest(s))
	}
	sym := k.Symbol
	if sym == "" {
		sym = "-"
	}
	scheme := k.Scheme.String()
	if k.Stored != kcore.SchemeNone {
		scheme = k.Stored.String() + " under " + scheme
	}
	valid := "ok"
	if k.Broken != nil {
		valid = fmt.Sprintf("break: the code was % x, the record says % x", k.Broken.Have, k.Broken.Want)
	}
	_, err := fmt.Fprintln(w, terminal.Plain(fmt.Sprintf("%s %s %016x %s: %s (%s): %s -> %s  %s  # poke %d%s", stamp(k.Time), cpu, k.Addr, sym, k.Kind, scheme,
		side(s, k, k.Old, 0), side(s, k, k.New, 1), valid, k.Index, maker(k))))
	for i := range crossings {
		if err == nil {
			_, err = fmt.Fprintln(w, story.CrossingLine(s, &crossings[i]))
		}
	}
	return err
}

// maker renders who made a poke, behind what else there is to say; "" where that is not known.
func maker(k *decoder.PokeInfo) string {
	switch {
	case k.TID == 0:
		return ""
	case k.Comm == "":
		return fmt.Sprintf(", by thread %d", k.TID)
	}
	return fmt.Sprintf(", by %s, thread %d", k.Comm, k.TID)
}

// stamp renders ns as seconds, in a column.
func stamp(ns uint64) string { return fmt.Sprintf("%6d.%09d", ns/1e9, ns%1e9) }

// side renders one side of a poke: text is its old code, and since is 0, or text
// is the new code, and since is 1.
func side(s *decoder.Session, k *decoder.PokeInfo, text []byte, since event.Epoch) string {
	if len(text) == 0 {
		return "nothing"
	}
	if len(text) > output.SideBytes {
		return fmt.Sprintf("%d bytes (%s ...)", len(text), story.Disasm(s, text, k.Addr, k.Time, 1))
	}
	return fmt.Sprintf("%x (%s)", text, story.SideAsm(s, k, text, since))
}

// trapNote renders what t was taken for.
func trapNote(s *decoder.Session, t *report.Trap) string {
	switch {
	case t.Poke < 0 && t.Kind == decoder.TrapDebug:
		return "a hardware breakpoint or a single step: the code there is no breakpoint"
	case t.Poke < 0:
		return "no record tells of it"
	}
	k := s.Text().Poke(t.Poke)
	note := fmt.Sprintf("poke %d at %s: %s -> %s", t.Poke, seconds(k.Time), output.AppendSide(nil, k.Old), output.AppendSide(nil, k.New))
	if t.Verdict == decoder.Ambiguous {
		note += ", the likeliest of several"
	}
	return note
}

// traps decodes the flow and prints the traps in it that pass.
func (a *app) traps(c *cobra.Command, o *pokesFlags, p *pokeFilter, s *decoder.Session, w io.Writer) error {
	a.ui.untimed(s, nil, p.from, p.until)
	x := story.Source{Session: s, Streams: outputStreams(s), Jobs: a.open.jobs, Progress: a.ui.progress}
	list, object, gaps, err := x.Traps(c.Context(), decoder.Query{From: p.from, Until: p.until})
	a.ui.done()
	if err != nil {
		return err
	}
	printed := 0
	for i := range list {
		t := &list[i]
		st, sym := s.Streams()[t.Stream], s.KernelSymbol(t.IP, t.Time.Likely())
		if !p.wants(s, t.IP, 1, t.Time, sym) || !p.wantsTrap(t.Poke) {
			continue
		}
		if o.enough(printed) {
			break
		}
		printed++
		if o.asJSON {
			err = printJSON(w, object(t))
		} else {
			if sym == "" {
				sym = "-"
			}
			note := trapNote(s, t)
			if far := output.Uncertain(t.Time); far != "" {
				note += ", " + far
			}
			_, err = fmt.Fprintln(w, terminal.Plain(fmt.Sprintf("%s [%s%s] %016x %s: %s  # %s", stamp(t.Time.Lo), cpuOrThread(st), ofGuest(s), t.IP, sym, t.Kind, note)))
		}
		if err != nil {
			return err
		}
	}
	if filters := pokeFilters(c); printed == 0 && filters != "" {
		a.ui.noRows(s, nil, "no breakpoint exception", p.from, p.until, filters)
	}
	return a.gapsElsewhere(s, gaps)
}

// gapsElsewhere is whole for a verb that prints no gaps itself.
func (a *app) gapsElsewhere(s *decoder.Session, gaps uint64) error {
	err := a.whole(s, gaps)
	if gaps > 0 {
		a.ui.hint("ptdecode check prints where they are, and what to do")
	}
	return err
}

// cpuOrThread renders a stream's CPU, or the thread whose stream it is.
func cpuOrThread(st *decoder.Stream) string {
	if st.CPU < 0 {
		return st.Name
	}
	return fmt.Sprintf("%03d", st.CPU)
}
