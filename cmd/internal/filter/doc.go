// Package filter reads the flags that say which part of a recording is wanted: which
// traces, which time, which threads, functions, files, addresses and changes. All
// verbs that filter take them from here, so that one flag is written in one way.
//
// A verb adds those that fit it (Flags.Add). When its recording is open, Flags.Resolve
// looks up the names and gives a Filter. Its Streams, From and Until go into a
// decoder.Query, Rows completes a rows.Options, and Sink stands in front of a sink
// that takes ranges. What is asked for and is not there is a *decoder.CallError.
package filter

import (
	"fmt"
	"math"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// callf is the error of a flag that asks for what is not there, or is not written well.
func callf(format string, args ...any) error {
	return &decoder.CallError{What: fmt.Sprintf(format, args...)}
}

// Filter is what is asked for of one recording.
type Filter struct {
	Streams     []int  // for decoder.Query; nil: all
	From, Until uint64 // the same, ns; 0: from the start, to the end
	First       int    // rows at most; 0: all
	Lacks       string // what of a range of CPUs is not there, to be said; "": nothing

	s       *decoder.Session
	changes event.Time // besides From and Until: of a share of the recording, the first time in it and the last
	tids    numbers
	comms   patterns
	exact   []string // functions, where all are asked for by the kernel's exact names
	syms    *symbolTest
	dsos    patterns
	addrs   spans
	starts  spans                    // in which the functions begin that have code at addrs
	settled map[decoder.Verdict]bool // nil: all verdicts
	flags   patterns
	pokes   *pokeTest
	depths  numbers
}

// Narrow reports whether some rows of the streams and of the time asked for may not pass.
func (f *Filter) Narrow() bool { return f.syms != nil || f.First > 0 || f.tests() }

// Count returns how many streams are asked for.
func (f *Filter) Count() int {
	if f.Streams == nil {
		return len(f.s.Streams())
	}
	return len(f.Streams)
}

// tests reports whether there is more to look at than a rows.Options has fields for.
func (f *Filter) tests() bool {
	return f.tids != nil || f.comms != nil || f.syms != nil && f.exact == nil || f.dsos != nil || f.addrs != nil || f.settled != nil ||
		f.flags != nil || f.pokes != nil || f.depths != nil
}

// numbers is ranges of numbers, both ends included.
type numbers []stretch

// stretch is a range of numbers, both ends in it.
type stretch struct{ lo, hi int64 }

// has reports whether n is in one of the ranges.
func (l numbers) has(n int64) bool {
	for _, r := range l {
		if r.lo <= n && n <= r.hi {
			return true
		}
	}
	return false
}

// spans is ranges of addresses, both ends included.
type spans []struct{ first, last uint64 }

// touches reports whether any of n bytes at addr is in one of the ranges.
func (l spans) touches(addr, n uint64) bool {
	last := addr + max(n, 1) - 1
	if last < addr {
		last = math.MaxUint64
	}
	for _, r := range l {
		if r.first <= last && addr <= r.last {
			return true
		}
	}
	return false
}
