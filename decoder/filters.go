package decoder

import "github.com/ptdecode/ptdecode/decoder/internal/process"

// filtered returns what tells which code is traced, nil where all is.
func (s *Session) filtered() func(space uint32, ip uint64) bool {
	if len(s.rec.Filters) == 0 {
		return nil
	}
	return func(space uint32, ip uint64) bool {
		var m process.Mapping
		user := !s.Kernel(ip)
		if user {
			m, _ = s.rec.Processes.Spaces.Find(space, ip)
		}
		some, in := false, false // a filter that lets code in; one that lets this in
		for i := range s.rec.Filters {
			f := &s.rec.Filters[i]
			at := ip
			if f.File != "" {
				if user && space == 0 {
					return true // where files lie is not known: nothing can be told
				}
				if at = m.Off + (ip - m.Addr); m.Path != f.File {
					some = some || !f.Stop
					continue
				}
			}
			hit := f.Lo <= at && at <= f.Hi
			if f.Stop && hit {
				return false
			}
			some, in = some || !f.Stop, in || (!f.Stop && hit)
		}
		return in || !some
	}
}
