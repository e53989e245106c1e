package main

import (
	"github.com/ptdecode/ptdecode/cmd/internal/items"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/rows"
)

// outputStreams returns the streams of s as rows name them.
func outputStreams(s *decoder.Session) (out []rows.Stream) {
	out = items.StreamsOf(s)
	for i, st := range s.Streams() {
		out[i].ElementNames, out[i].FileOff = st.Protocol.ElementNames, st.FileOff
	}
	return out
}
