// Package decoder rebuilds what each CPU executed from a hardware trace, while the
// kernel changed its own code.
//
// Open takes a recording: a perf.data, an Arm trace snapshot, a bundle, or raw trace with
// the files that describe it. Session.Ranges gives what ran, in order of time:
//
//	s, err := decoder.Open(decoder.Config{Recording: "perf.data"})
//	if err != nil {
//		log.Fatal(err)
//	}
//	defer s.Close()
//	for r, err := range s.Ranges(ctx, decoder.Query{}) {
//		if err != nil {
//			log.Print(err) // a gap, after which the loop goes on, or the error that ends it
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
// Session.Flow hands whole batches of ranges to a Sink, which costs less for each range
// than Session.Ranges does. Packages that build on it make more of the flow:
//
//   - decoder/rows folds breakpoint exceptions, filters, and finds branches and calls
//   - decoder/calls gives each call with its caller and how long it took
//   - decoder/report checks a recording, and finds how each CPU crossed each change
//   - decoder/bundle makes one file of a recording and all that decoding it needs
//
// This package prints nothing and reads no packets. The lexers of the protocols are in pt
// and coresight, the walk through the code is in decoder/internal/flow.
//
// Start reading in config.go and session.go. How files become a Session is in assemble.go,
// what a flow is cut into in plan.go, what workers do in run.go, and how streams are merged
// in merge.go. What happens where trace and code contradict each other is in learn.go.
//
// Nothing here is stable before version 1: README.md says what is promised.
package decoder
