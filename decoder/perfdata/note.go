package perfdata

// note keeps what the record just visited says of the recording itself.
func (s *scanner) note() {
	r, rec := s.r, &s.rec
	var err error
	switch rec.Type {
	case TypeAuxtrace:
		var m Auxtrace
		if m, err = rec.Auxtrace(); err == nil {
			s.queue.auxtrace(rec, m)
		}
	case TypeAux:
		var m Aux
		if m, err = rec.Aux(); err == nil && s.queue.note(rec, m) {
			r.hints.AuxLosses++
		}
	case TypeSample:
		if a := rec.Attr; a != nil && a.SampleType&SampleAux != 0 {
			s.sampleAux()
		}
	case TypeAuxtraceInfo:
		var m AuxInfo
		if m, err = rec.AuxtraceInfo(); m.Kind != 0 && r.auxInfo == nil {
			r.auxInfo = &m
		}
	case TypeTimeConv:
		var m TimeConv
		if m, err = rec.TimeConv(); err == nil {
			r.timeConv = &m
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
	}
	if err != nil {
		if fe, ok := err.(*FormatError); ok && len(r.errs) < maxTrouble {
			r.errs = append(r.errs, fe)
		} else {
			r.moreErrs++
		}
	}
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
		h.LostIn = append(h.LostIn, m)
	}
	return nil
}
