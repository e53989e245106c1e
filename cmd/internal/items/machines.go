package items

import (
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/rows"
)

// MachineOf returns the machine that executed a stream.
func MachineOf(s *decoder.Session, guest int32) *decoder.Session {
	for _, g := range decoder.Guests(s) {
		if g.Meta().Guest == guest {
			return g
		}
	}
	return s
}

// StreamsOf returns the streams of s as rows name them.
func StreamsOf(s *decoder.Session) (out []rows.Stream) {
	for _, st := range s.Streams() {
		r := rows.Stream{Index: st.Index, CPU: st.CPU, TID: st.TID, ID: st.ID, Name: st.Name, Guest: st.Guest, SilentReturns: st.SilentReturns()}
		for _, g := range decoder.Guests(s) {
			if g.Meta().Guest == st.Guest {
				r.Machine = g
			}
		}
		out = append(out, r)
	}
	return out
}
