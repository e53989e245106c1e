package perfdata

import "github.com/ptdecode/ptdecode/decoder/badfile"

// note keeps what the record just visited says of the recording itself.
func (s *scanner) note() {
	r, rec := s.r, &s.rec
	var err error
	switch rec.Type {
	case TypeAuxtrace:
		var m Auxtrace
		if m, err = rec.Auxtrace(); err == nil {
			if n := r.header.CPUsAvail; n > 0 && m.CPU >= 0 && uint32(m.CPU) >= n {
				err = rec.errorf("CPU %d, the recording says that the machine has %d", m.CPU, n)
			}
			if m.CPU < -1 {
				err = rec.errorf("CPU %d, need -1 or more", m.CPU)
			}
			s.auxtrace(rec, m)
		}
	case TypeAux:
		err = s.noteAux()
	case TypeItraceStart:
		traceTime(r, rec)
	case TypeSample:
		if a := rec.Attr; a != nil && a.SampleType&SampleAux != 0 {
			s.sampleAux()
		}
	case TypeAuxtraceInfo:
		err = s.noteAuxInfo()
	case TypeTimeConv:
		var m TimeConv
		if m, err = rec.TimeConv(); err == nil {
			r.timeConv, s.timeConv = &m, s.rec
		}
	case TypeLost, TypeLostSamples:
		err = s.lost()
	case TypeAuxtraceError:
		r.hints.AuxErrors++
	case TypeIDIndex:
		err = s.idIndex()
	case TypeHeaderBuildID:
		err = s.buildID()
	case TypeEventUpdate:
		err = s.eventUpdate()
	case TypeSimpleKernelSymbol, TypeSimpleSplit, TypeSimpleSplitEnd:
		s.simpleRecord(rec.Type, rec.Body)
	case TypeHeaderTracingData:
		if len(rec.Body) <= 8 { // simpleperf's holds the data
			r.tracing(rec.File, rec.Off, rec.Data)
		}
	}
	if err != nil {
		if fe, ok := err.(*badfile.Error); ok && len(r.errs) < maxTrouble {
			r.errs = append(r.errs, fe)
		} else {
			r.moreErrs++
		}
	}
}

// saw keeps the time of the CPU's last record.
func (s *scanner) saw(cpu int32, time uint64) {
	if cpu < 0 || cpu >= maxCPUs {
		return
	}
	for int(cpu) >= len(s.seen) {
		s.seen = append(s.seen, 0)
	}
	s.seen[cpu] = time
}

func (s *scanner) lost() error {
	h := &s.r.hints
	m, err := s.rec.Lost()
	if err != nil {
		return err
	}
	if s.rec.Type == TypeLostSamples {
		h.LostSamples += m.Lost
		return nil
	}
	h.LostRecords++
	h.LostEvents += m.Lost
	if len(h.LostIn) < maxLostIn {
		if c := int(m.CPU); c >= 0 && c < len(s.seen) {
			m.Since = s.seen[c]
		}
		h.LostIn = append(h.LostIn, m)
	}
	return nil
}

// noteAux is note for an AUX record.
func (s *scanner) noteAux() error {
	m, err := s.rec.Aux()
	if err == nil && s.queue.note(&s.rec, m) {
		s.r.hints.AuxLosses++
	}
	traceTime(s.r, &s.rec)
	return err
}

// noteAuxInfo is note for an AUXTRACE_INFO record.
func (s *scanner) noteAuxInfo() error {
	s.mendAuxInfo()
	s.auxInfo = s.rec
	m, err := s.rec.AuxtraceInfo()
	if m.Kind != 0 && s.r.auxInfo == nil {
		s.r.auxInfo = &m
	}
	return err
}
