package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/rows"
)

// streamsOf returns the indices of the streams that --cpu and --id ask for, nil for
// all. Both are numbers and ranges with commas between them.
func streamsOf(s *decoder.Session, cpus, ids string) ([]int, error) {
	var streams []int
	add := func(flag, what, spec string, base int, number func(*decoder.Stream) int64) error {
		if spec == "" {
			return nil
		}
		if streams == nil {
			streams = []int{}
		}
		there := streamNames(s, nil)
		if base == 16 {
			there = traceIDs(s)
		}
		for w := range strings.SplitSeq(spec, ",") {
			from, to, isRange := strings.Cut(w, "-")
			lo, err := parseNumber(from, base)
			hi := lo
			if isRange && err == nil {
				hi, err = parseNumber(to, base)
			}
			if err != nil || lo > hi || lo < 0 {
				need := "numbers, as 0,2-3"
				if base == 16 {
					need = "hexadecimal numbers, as 10,12-14"
				}
				return usagef("%s %q: %q is no %s and no range of %[4]ss: need %s", flag, spec, w, what, need)
			}
			found := false
			for _, st := range s.Streams() {
				if n := number(st); n >= lo && n <= hi {
					found = true
					if !slices.Contains(streams, st.Index) {
						streams = append(streams, st.Index)
					}
				}
			}
			if !found {
				return usagef("%s %s: no trace of %s %s; there is %s", flag, spec, what, w, there)
			}
		}
		return nil
	}
	if cpus != "" && s.Meta().Kind == decoder.KindSnapshot {
		return nil, usagef("--cpu %s: a snapshot's trace is of trace IDs: --id; there is %s", cpus, streamNames(s, nil))
	}
	err := add("--cpu", "CPU", cpus, 10, func(st *decoder.Stream) int64 { return int64(st.CPU) })
	if err == nil {
		err = add("--id", "trace ID", ids, 16, traceID)
	}
	return streams, err
}

// parseNumber reads a number; a hexadecimal one with or without 0x.
func parseNumber(s string, base int) (int64, error) {
	if base == 16 {
		s = strings.TrimPrefix(s, "0x")
	}
	return strconv.ParseInt(s, base, 32)
}

// traceID returns the CoreSight trace ID of st, -1 without one.
func traceID(st *decoder.Stream) int64 {
	n, err := strconv.ParseInt(st.ID, 16, 32)
	if err != nil {
		return -1
	}
	return n
}

// traceIDs lists the trace IDs that there are, each with its stream's name if that
// differs. It lists the streams if there are no trace IDs.
func traceIDs(s *decoder.Session) string {
	var names []string
	for _, st := range s.Streams() {
		switch n := "id" + st.ID; {
		case st.ID == "":
		case st.Name == n:
			names = append(names, n)
		default:
			names = append(names, fmt.Sprintf("%s (%s)", n, st.Name))
		}
	}
	if len(names) == 0 {
		return streamNames(s, nil)
	}
	return strings.Join(names, ", ")
}

// streamNames lists the streams with the indices only, nil for all.
func streamNames(s *decoder.Session, only []int) string {
	var names []string
	for i, st := range s.Streams() {
		if only == nil || slices.Contains(only, i) {
			names = append(names, st.Name)
		}
	}
	if len(names) == 0 {
		return "no trace at all"
	}
	return strings.Join(names, ", ")
}

// outputStreams returns the streams of s as rows name them.
func outputStreams(s *decoder.Session) (out []rows.Stream) {
	for _, st := range s.Streams() {
		r := rows.Stream{
			Index: st.Index, CPU: st.CPU, TID: st.TID, ID: st.ID, Name: st.Name, Guest: st.Guest,
			SilentReturns: st.SilentReturns(), ElementNames: st.Protocol.ElementNames, FileOff: st.FileOff,
		}
		for _, g := range decoder.Guests(s) {
			if g.Meta().Guest == st.Guest {
				r.Machine = g
			}
		}
		out = append(out, r)
	}
	return out
}
