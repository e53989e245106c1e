package decoder

import (
	"fmt"
	"slices"

	"github.com/ptdecode/ptdecode/decoder/internal/guests"
	"github.com/ptdecode/ptdecode/decoder/internal/recording"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// Guests returns the virtual machines of Config.Guests, in that order. Each is a session
// of its own, with the code, the changes and the symbols of that machine. Its streams
// hold what the machine executed. Session.Flow of the host gives that, too.
func (s *Session) Guests() []*Session { return s.guests }

// PID returns the process that runs the session's virtual machine; 0: it is the host.
func (s *Session) PID() int32 { return s.pid }

// of returns the session of the machine that executed st, and its code; c is that of s.
func (s *Session) of(st *stream.Stream, c *code) (*Session, *code) {
	if st.Guest != s.pid {
		for _, g := range s.guests {
			if g.pid == st.Guest {
				return g, g.code.Load()
			}
		}
	}
	return s, c
}

// openGuests opens the virtual machines that the call names, and parts the streams.
func (s *Session) openGuests() error {
	var pids []int32
	given := func(pid int32) bool {
		return slices.ContainsFunc(s.cfg.Guests, func(g Guest) bool { return g.PID == pid })
	}
	for _, pid := range s.rec.Injected() {
		if !given(pid) {
			s.cfg.Guests = append(s.cfg.Guests, Guest{PID: pid, HasOffset: true})
		}
	}
	for i := range s.cfg.Guests {
		pids = append(pids, s.cfg.Guests[i].PID)
	}
	parts, err := guests.Split(s.rec.Processes.Tasks, s.streams, pids)
	if err != nil {
		return &CallError{What: "--guest " + err.Error()}
	}
	for i := range s.cfg.Guests {
		if err := s.openGuest(&s.cfg.Guests[i], parts, i); err != nil {
			return err
		}
		for k, st := range parts.Of(i) {
			st.Index = len(s.streams)
			st.Name = fmt.Sprintf("%v/%s", &s.cfg.Guests[i], s.streams[k].Name)
			st.Begin(s.rec.Written(st), segmentShare(memoryOf(&s.cfg), len(s.streams)))
			s.streams = append(s.streams, st)
		}
	}
	return nil
}

// openGuest opens g, which is guest i of parts.
func (s *Session) openGuest(g *Guest, parts *guests.Parts, i int) error {
	rec := s.rec.Inside[g.PID]
	if g.Recording != "" {
		from := recording.Config{FS: s.cfg.FS, Recording: g.Recording}
		var err error
		if rec, err = recording.Read(&from); err != nil {
			return err
		}
	}
	rec.Within(s.rec, parts.Of(i))
	var syms *symbols.Table
	if rec.Beside.Kallsyms != "" {
		if k, err := rec.OpenKallsyms(rec.Beside.Kallsyms); err == nil {
			syms = symbols.New(k, nil, nil)
		}
	}
	clock, err := parts.Clock(i, rec.Pokes, rec.BreakEntries(syms))
	if err != nil {
		return err
	}
	shift, slack := g.Offset, uint64(0)
	if !g.HasOffset {
		shift, slack = clock.Offset()
	}
	if what, hint := clock.Doubt(shift, slack, g.HasOffset); what != "" {
		rec.Warnf(hint, "%s+0x0: clock: %s", rec.Name, what)
	}
	rec.Shift(shift)
	in, err := OpenRecording(rec, Config{FS: s.cfg.FS, Recording: g.Recording, ClockError: s.cfg.ClockError + slack, Memory: s.cfg.Memory, NoLearn: true})
	if err != nil {
		return err
	}
	in.pid, in.offset = g.PID, shift
	s.guests = append(s.guests, in)
	for _, w := range in.rec.Warnings {
		w.What = g.String() + ": " + w.What
		s.rec.Warnings = append(s.rec.Warnings, w)
	}
	return nil
}
