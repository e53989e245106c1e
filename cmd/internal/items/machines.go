package items

import (
	"github.com/ptdecode/ptdecode/cmd/internal/machines"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/rows"
)

// StreamsOf returns the streams of s as rows name them.
func StreamsOf(s *decoder.Session) (out []rows.Stream) {
	for _, st := range s.Streams() {
		r := rows.Stream{Index: st.Index, CPU: st.CPU, TID: st.TID, ID: st.ID, Name: st.Name, Guest: st.Guest, SilentReturns: st.SilentReturns()}
		if m := machines.Of(s, st.Guest); m != s {
			r.Machine = m
		}
		out = append(out, r)
	}
	return out
}
