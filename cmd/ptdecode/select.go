package main

import (
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/rows"
)

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
