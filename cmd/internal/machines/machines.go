// Package machines tells a recorded host and the virtual machines that ran on it apart.
package machines

import "github.com/ptdecode/ptdecode/decoder"

// Of returns the session of a guest of s. The guest of a stream is Stream.Guest. Where s has no such guest, as with 0, it
// returns s.
func Of(s *decoder.Session, guest int32) *decoder.Session {
	for _, g := range decoder.Guests(s) {
		if g.Meta().Guest == guest {
			return g
		}
	}
	return s
}
