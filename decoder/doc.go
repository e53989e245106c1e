// Package decoder rebuilds what each CPU executed from a hardware trace, while the
// kernel changed its own code.
//
// Open takes a recording: a perf.data, an Arm trace snapshot, or raw trace with the
// files that describe it. Session.Ranges gives what ran, in order of time:
//
//	s, err := decoder.Open(decoder.Config{Recording: "perf.data"})
//	if err != nil {
//		log.Fatal(err)
//	}
//	defer s.Close()
//	for r, err := range s.Ranges(ctx, decoder.Query{}) {
//		if err != nil {
//			log.Print(err) // a gap, behind which the loop goes on, or what ends it
//			continue
//		}
//		fmt.Printf("%s %#x-%#x %s %s\n", event.Seconds(r.Time.Lo), r.Addr, r.End, r.Symbol(), r.Verdict)
//	}
//
// Files come from the operating system, or from Config.FS: an archive, an embed.FS, or
// memory. A file there that is no io.ReaderAt is held in memory.
//
// Each Range carries a Verdict, which says how sure it is. What the trace leaves open is
// Ambiguous, and what could not be followed is an *event.Gap.
//
// Session.Pokes lists the changes to the kernel's code, and Session.Code gives the code
// of a moment. Session.Warnings says what the recording lacks and how to record it.
// A file that cannot be read gives a *badfile.Error, with its name and the offset. A
// Config that does not fit what it names gives a *CallError.
//
// Two packages stand beside this one and on it. Package decoder/rows folds breakpoint
// exceptions, filters, and finds branches and calls. Package decoder/report checks a
// recording, and finds how each CPU crossed each change. Session.Flow hands whole
// batches to a Sink: it costs least for each range, and package rows is fed by it.
//
// Nothing here is stable before version 1: README.md says what is promised.
package decoder
