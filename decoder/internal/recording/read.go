package recording

import (
	"errors"
	"math"

	"github.com/ptdecode/ptdecode/decoder/internal/patchers"
	"github.com/ptdecode/ptdecode/decoder/internal/perfdata"
	"github.com/ptdecode/ptdecode/decoder/internal/plural"
	"github.com/ptdecode/ptdecode/decoder/internal/repair"
	"github.com/ptdecode/ptdecode/decoder/internal/sideband"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// openRecording opens the recording that c names.
func openRecording(c *Config) (*perfdata.Recording, error) {
	if c.Recording != "-" {
		return perfdata.Open(c.FS, c.Recording)
	}
	if c.Stdin == nil {
		return nil, errors.New("no standard input to read a recording from")
	}
	return perfdata.OpenPipe(c.Stdin)
}

// read gives all events of what c names to take: of the recording, then of the
// event file. With keep, the recording stays open and is handed to it.
func (f *facts) read(c *Config, keep func(*perfdata.Recording), take taker) error {
	var r *perfdata.Recording
	if isSnapshot(c.FS, c.Recording) {
		if err := f.readSnapshot(c); err != nil {
			return err
		}
	} else if c.Recording != "" {
		var err error
		if r, err = openRecording(c); err != nil {
			return err
		}
		if keep != nil {
			keep(r)
		} else {
			defer r.Close()
		}
		f.describe(r)
		f.perfStreams(r)
	}
	if keep == nil {
		var err error
		if take, err = f.breaksFirst(c, take); err != nil {
			return err
		}
	}
	if r != nil {
		at := place{File: r.Name()}
		if err := headEvents(r, func(e *sideband.Record) error { return take(e, at) }); err != nil {
			return err
		}
		if err := f.records(c, r, take, patchesOf(f, c, r, take)); err != nil {
			return err
		}
	}
	if c.Events == "" {
		return nil
	}
	f.Name = c.Events
	return readEvents(c, take)
}

// breaksFirst gives the breakpoint handler's entries, if there are symbols that
// say them, and returns what takes the rest.
func (f *facts) breaksFirst(c *Config, take taker) (taker, error) {
	path := f.Beside.Kallsyms
	if c.Kallsyms != "" {
		path = c.Kallsyms
	}
	if path == "" {
		return take, nil
	}
	k, err := f.OpenKallsyms(path)
	if err != nil {
		f.HiddenSymbols(err)
		return take, nil
	}
	told := map[sideband.Hex]bool{}
	for _, e := range breakEvents(symbols.New(k, nil, nil)) {
		told[e.Addr] = true
		if err := take(&e, place{File: path}); err != nil {
			return nil, err
		}
	}
	return func(e *sideband.Record, at place) error {
		if e.Type == sideband.TypeBreakEntry && told[e.Addr] {
			return nil
		}
		return take(e, at)
	}, nil
}

// describe takes what only the files of a recording tell.
func (f *facts) describe(r *perfdata.Recording) {
	f.Name = r.Name()
	f.Meta.Kind = "perf.data"
	f.Meta.Records = map[string]uint64{}
	for t, n := range r.Counts() {
		f.Meta.Records[t.String()] += n
	}
	h := r.Hints()
	f.noAux, f.mended = h.NoAux, h.Mended > 0
	found, more := r.Trouble()
	for i, e := range found {
		hint := ""
		if h.CutShort && i == len(found)-1 {
			hint = hintCutShort
		}
		f.Damagedf(hint, "%v", e)
	}
	if more > 0 {
		f.Damagedf(hintCutShort, "%s: %s", r.Name(), plural.Count(more, "more such place"))
	}
	for _, d := range r.KcoreDirs() {
		switch files := (TextFiles{d.Kcore, d.Kallsyms, d.Modules}); {
		case d.Late:
			f.After = files
		case !d.Guest:
			f.Beside = files
		}
	}
	f.Inside.Describe(r)
	takeSimpleperf(f, r.Simpleperf())
}

// records gives the events of all records, in order of time, and the pokes that
// samples tell of, if there is what makes them.
func (f *facts) records(c *Config, r *perfdata.Recording, take taker, p *patchers.Patches) error {
	const told = 10
	bad, rd, watch := 0, r.Records(), repair.NewWatch(r)
	var rec perfdata.Record
	var e sideband.Record // lent to take
	var err error
	for rd.Next(&rec) {
		if p != nil {
			if err := p.Sample(&rec); err != nil {
				return err
			}
		}
		e, err = eventOf(&rec)
		watch.Record(&rec, len(f.Pokes))
		if err == errSkip {
			continue
		}
		if err == nil {
			err = take(&e, place{rec.File, rec.Off})
			if wrong := (*badEvent)(nil); err != nil && !errors.As(err, &wrong) {
				return err
			}
		}
		if err != nil {
			if rec.Type == perfdata.TypeTextPoke {
				if err := take(sideband.UnknownPokes(rec.Time, nil), place{rec.File, rec.Off}); err != nil {
					return err
				}
			}
			if bad++; bad <= told {
				f.Damagedf("", "%v", err)
			}
		}
	}
	if p != nil {
		if err := p.GiveRest(); err != nil {
			return err
		}
		tellCovered(f, p)
		copiedBefore(f, c, p)
	}
	if bad > told {
		f.Damagedf("", "%s: %s that cannot be read", r.Name(), plural.Count(bad-told, "more record"))
	}
	if h := r.Hints(); !h.NoTextPoke {
		for i := range h.Holes {
			if err := take(sideband.UnknownPokes(h.Holes[i].To, &h.Holes[i].From), place{File: r.Name()}); err != nil {
				return err
			}
		}
	}
	if f.Doubts = watch.Repair(f.Pokes, c.FS, c.Kcore, f.Beside.Kcore); f.Doubts.Wrong > 0 {
		f.Damagedf("record again; what was executed of this code is ambiguous", "%s+0x0: TEXT_POKE: %s a wrong byte, corrected by the changes before and after %s", f.Name, plural.Count(f.Doubts.Wrong, "change")+plural.Word(f.Doubts.Wrong, " has", " have"), plural.Word(f.Doubts.Wrong, "it", "them"))
	}
	if h := r.Hints(); h.Incomplete && !h.NoTextPoke {
		return take(sideband.UnknownPokes(math.MaxUint64, &h.CompleteTo), place{File: r.Name()})
	}
	return nil
}

// perfStreams takes the AUX streams, without their protocol: records say it.
func (f *facts) perfStreams(r *perfdata.Recording) {
	ps := r.Streams()
	for i := range ps {
		p := &ps[i]
		st := &stream.Stream{CPU: p.CPU, TID: p.TID, Size: p.Size, Missing: p.Missing, File: r.Name(), Data: p, Origin: p.FileOff}
		for _, l := range p.Losses {
			st.Losses = append(st.Losses, stream.Loss{Off: l.Off, End: l.End, Why: l.Why.String(), Time: l.Time})
		}
		f.Streams = append(f.Streams, st)
	}
}

// missing says what the recording or the events lack and how to get it.
func (f *facts) missing(c *Config) {
	if f.Name == "" {
		return
	}
	if f.Meta.Kind == KindSnapshot {
		return // what it lacks it has told
	}
	n := f.Name + "+0x0"
	if f.events == 0 && c.Recording == "" {
		f.Warnf("write it with ptdecode events REC > FILE", "%s: events: 0 lines of them, need those of a recording: nothing is known of it but what the call says", n)
		return
	}
	traced := !f.noAux || len(c.Raw) > 0
	if f.branchList && !traced {
		f.Warnf("record without --decode-etm, so that the trace itself is kept", "%s: ETM_BRANCH_LIST: simpleperf counted branches and kept no trace", n)
	}
	if !traced {
		f.Warnings = append(f.Warnings, Warning{
			What: n + ": AUX area: 0 bytes of trace, need 1 AUXTRACE record to decode anything",
			Hint: traceHint(f), NoTrace: true,
		})
	}
	if c.Recording != "" && !f.noAux && len(f.Streams)+len(c.Raw)+f.areas == 0 {
		f.Damagedf("end perf record by SIGINT, and give the file as perf record left it; or give the trace with --pt CPU:FILE",
			"%s: AUXTRACE: 0 records, need 1: AUX records tell of trace, but it is not in the file", n)
	}
	untraced(f, c, n)
	f.missingTime(c, n, traced)
	if f.lostRecords > 0 {
		where := ""
		if more := f.lostRecords - 1; more > 0 {
			where = " here and in " + plural.Count(more, "more place")
		}
		f.Warnf("record with larger buffers: perf record -m 16M,64M; text poked meanwhile is in doubt until the next poke of its site",
			"%s: LOST: %s dropped by the kernel%s", f.LostAt, plural.Count(f.lostEvents, "record")+plural.Word(f.lostEvents, " was", " were"), where)
	}
	if f.Beside.Kcore == "" && c.Kcore == "" && len(c.Code) == 0 && c.Recording != "" && !programsOnly(f) {
		f.Warnf("record with perf record --kcore, or give --kcore FILE (a copy of /proc/kcore made meanwhile is best)",
			"%s: kcore: 0 files beside the recording: the kernel's text is not known", n)
		f.Warnings[len(f.Warnings)-1].NoText = true
	}
}

// traceHint says how to record a trace on the machine of the recording.
func traceHint(f *facts) string {
	if f.Meta.Machine == "aarch64" {
		return "record with perf record --kcore -e cs_etm//k, or give the records with --events to a snapshot of the same time"
	}
	return "record with perf record --kcore -e intel_pt//k, or give the trace with --pt CPU:FILE"
}

// missingTime says what of the trace's configuration, time and changes to text
// is missing in the recording called n.
func (f *facts) missingTime(c *Config, n string, traced bool) {
	if k := f.auxInfo; k != nil && k.Kind != perfdata.AuxIntelPT && k.Kind != perfdata.AuxCSETM {
		f.Warnf("record with perf record -e intel_pt//, or cs_etm// on Arm", "%s: AUXTRACE_INFO: the trace is %s's, only intel_pt and cs_etm are read", n, k.Kind)
	}
	if k := f.auxInfo; k != nil && k.Kind == perfdata.AuxCSETM && k.CS == nil {
		f.Damagedf("", "%s: AUXTRACE_INFO: cs_etm: %s of configuration cannot be read", n, plural.Count(len(k.Priv), "word"))
	}
	if own := len(c.Raw) > 0 && c.Raw[0].Unit != nil; f.auxInfo == nil && traced && !own {
		how := "record with perf record, or give --events"
		if c.Recording == "" {
			how = "write the events of the recording with ptdecode events"
		}
		f.Warnf("the trace is read with default settings and without time; "+how,
			"%s: AUXTRACE_INFO: 0 records, need 1: the trace's configuration is not known", n)
	}
	if !f.timed {
		f.Warnf("record with perf record -T, or without --no-timestamp",
			"%s: timestamps: 0 of %s them: changes to text cannot be put in time with the trace", n, plural.Count(f.attrCount, "event")+plural.Word(f.attrCount, " has", " have"))
	}
	cs := f.auxInfo != nil && f.auxInfo.CS != nil
	what := "changes to text cannot be put in time with the trace"
	if programsOnly(f) {
		what = "what records tell of threads and mapped files cannot be put in time with the trace"
	}
	switch {
	case !f.timed || !traced || f.Meta.Kind == "raw" || f.converts():
	case cs:
		f.Warnf("record with a kernel of v5.19 or later on cores of Armv8.4 or later, whose trace units count the virtual counter, and with a perf that writes TIME_CONV",
			"%s: AUXTRACE_INFO: timestamps do not convert to the clock of records: %s", n, what)
	default:
		f.Warnf("record on a machine with an invariant time stamp counter, with tsc=1 (the default) and without -k mono",
			"%s: TIME_CONV: 0 records that are valid, need 1: %s", n, what)
	}
	switch {
	case f.asksPokes || !traced:
	case programsOnly(f):
		f.Meta.Programs = true
	case cs:
		f.Warnf("record with ptdecode record, which sets breakpoints for them, or give them with --events FILE; without them a change shows only as gaps",
			"%s: TEXT_POKE: 0 of %s for these records, and Arm's kernels make none: changes to the kernel's text are not known", n, plural.Count(f.attrCount, "event")+plural.Word(f.attrCount, " asks", " ask"))
	default:
		f.Warnf(hintNoPoke, "%s: TEXT_POKE: 0 of %s for these records: changes to the kernel's text are not known", n, plural.Count(f.attrCount, "event")+plural.Word(f.attrCount, " asks", " ask"))
	}
}
