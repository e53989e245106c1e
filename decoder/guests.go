package decoder

import (
	"github.com/ptdecode/ptdecode/decoder/internal/guests"
	"github.com/ptdecode/ptdecode/decoder/internal/held"
	"github.com/ptdecode/ptdecode/decoder/internal/recording"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
)

// Guests returns the virtual machines of s: those that Config.Guests names, and those of
// which the recording itself has records. Each is a session of its own, with the code, the
// changes and the symbols of that machine. Its Meta.Guest is the process that runs it. Its
// streams hold what the machine executed; Session.Flow of the host gives that, too.
func Guests(s *Session) []*Session { return s.guests }

// machineOf returns the session of the machine that executed st, a stream of s, and its
// code; c is that of s.
func machineOf(s *Session, st *stream.Stream, c *code) (*Session, *code) {
	if st.Guest != s.rec.Meta.Guest {
		for _, g := range s.guests {
			if g.rec.Meta.Guest == st.Guest {
				return g, g.code.Load()
			}
		}
	}
	return s, c
}

// openGuests opens the virtual machines, and parts the streams of s.
func openGuests(s *Session) error {
	parts, err := guests.Split(s.rec, s.streams, s.cfg.Guests)
	if err != nil {
		return &CallError{What: "--guest " + err.Error()}
	}
	for i, g := range parts.Guests() {
		rec, offset, slack, err := parts.Open(s.rec, i, &recording.Config{FS: s.cfg.FS})
		if err != nil {
			return err
		}
		in, err := OpenRecording(rec, Config{FS: s.cfg.FS, Recording: g.Recording, ClockError: s.cfg.ClockError + slack, Memory: s.cfg.Memory, NoLearn: true})
		if err != nil {
			return err
		}
		in.offset = offset
		s.guests = append(s.guests, in)
		for _, w := range in.rec.Warnings {
			w.What = guests.Name(g.PID) + ": " + w.What
			s.rec.Warnings = append(s.rec.Warnings, w)
		}
		for k, st := range parts.Of(i) {
			st.Index = len(s.streams)
			st.Name = guests.Name(g.PID) + "/" + s.streams[k].Name
			st.Begin(s.rec.Written(st), held.SegmentShare(memoryOf(&s.cfg), len(s.streams)))
			s.streams = append(s.streams, st)
		}
	}
	return nil
}
