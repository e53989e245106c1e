package event

import (
	"fmt"
	"math"
)

// Time bounds a moment: it lies in [Lo, Hi], both in nanoseconds of the
// recording's clock. That is perf's clock where the recording has a conversion.
// Elsewhere it is timestamp counter ticks, taken as nanoseconds. The zero value
// is the known moment 0; Always is the moment of which nothing is known.
type Time struct {
	Lo, Hi uint64
}

// Always bounds nothing.
var Always = Time{0, math.MaxUint64}

// Known reports whether the moment is bounded from below or above.
func (t Time) Known() bool { return t.Lo != 0 || t.Hi != math.MaxUint64 }

// Likely returns the moment inside of t by which what happened then is looked up and
// drawn: half-way, ns. Where there is one bound only, it is that. A lower bound of 0 is none:
// half-way from there lies long before the recording.
func (t Time) Likely() uint64 {
	switch {
	case t.Hi == math.MaxUint64 || t.Hi < t.Lo:
		return t.Lo
	case t.Lo == 0:
		return t.Hi
	}
	return t.Lo + (t.Hi-t.Lo)/2
}

// Stated returns the moment by which the thread that ran at t is looked up, ns. It is the last
// one that the trace stated before, or else the first behind it. So it is the same whether or
// not the upper bound was asked for.
func (t Time) Stated() uint64 {
	if t.Lo == 0 && t.Hi != math.MaxUint64 {
		return t.Hi
	}
	return t.Lo
}

// Epoch counts the pokes of a journal that have been applied, in the
// journal's order: epoch 0 is the text before all of them.
type Epoch uint32

// MaxEpoch is an epoch beyond that of any journal.
const MaxEpoch Epoch = math.MaxUint32

// Span is the epochs From <= e < Until.
type Span struct {
	From, Until Epoch
}

// EveryEpoch is the span of text that is never poked.
var EveryEpoch = Span{0, MaxEpoch}

// Has reports whether e lies in s.
func (s Span) Has(e Epoch) bool { return s.From <= e && e < s.Until }

// Intersect returns the epochs in both s and t; Empty when there are none.
func (s Span) Intersect(t Span) Span {
	return Span{max(s.From, t.From), min(s.Until, t.Until)}
}

// Empty reports whether s holds no epoch.
func (s Span) Empty() bool { return s.From >= s.Until }

// Seconds renders ns as seconds.
func Seconds(ns uint64) string { return fmt.Sprintf("%d.%09d s", ns/1e9, ns%1e9) }
