package decoder

import "github.com/ptdecode/ptdecode/decoder/internal/addrfilter"

// filtered returns what tells which code is traced, nil where all is.
func (s *Session) filtered() func(space uint32, ip uint64) bool {
	list := s.rec.Filters
	if len(list) == 0 {
		return nil
	}
	return func(space uint32, ip uint64) bool {
		if s.Kernel(ip) {
			return addrfilter.Lets(list, ip, "", ip, true)
		}
		m, _ := s.rec.Processes.Spaces.Find(space, ip)
		return addrfilter.Lets(list, ip, m.Path, m.Off+(ip-m.Addr), space != 0)
	}
}
