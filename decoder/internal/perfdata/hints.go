package perfdata

// Hints says what a recording lacks or lost, so that a program can say what to
// do about it.
type Hints struct {
	NoAux       bool // no AUX data: perf record -e intel_pt// (or cs_etm//) makes it
	NoAuxInfo   bool // AUX data, but no AUXTRACE_INFO: the trace's configuration is unknown
	NoTime      bool // no event has timestamps: perf record -T, records stay in file order
	Interrupted bool // perf record did not end by itself: no data size, no features
	CutShort    bool // a file ends inside what it should hold
	NoTextPoke  bool // no event asks for TEXT_POKE records: the kernel's changes to its text are unknown
	NoSwitch    bool // no event asks for context switches
	NoKcore     bool // no kcore_dir beside the trace: perf record --kcore

	LostRecords uint64 // LOST records
	LostEvents  uint64 // records the kernel dropped, by LOST
	LostSamples uint64 // samples the kernel dropped, by LOST_SAMPLES
	AuxLosses   uint64 // AUX records flagged truncated, partial or collision
	AuxErrors   uint64 // AUXTRACE_ERROR records
	LostIn      []Lost // the first LOST records, at most 4096

	Mended  uint64 // records that were damaged: mended, or stepped over
	Damaged uint64 // bytes of records that were stepped over

	Holes   []Hole        // where changes to text may be among them
	Guessed []GuessedPoke // changes to text that were mended

	// Incomplete says that records are missing because a file is cut short or
	// cannot be read on; none is missing up to the time CompleteTo, ns.
	Incomplete bool
	CompleteTo uint64
}

// maxLostIn bounds Hints.LostIn.
const maxLostIn = 4096

func (r *Recording) finishHints() {
	h := &r.hints
	h.NoAux = len(r.streams) == 0
	h.NoAuxInfo = r.auxInfo == nil && !h.NoAux
	h.NoTime = !r.events.anyTime
	h.NoKcore = true
	for _, k := range r.kcores {
		h.NoKcore = h.NoKcore && k.Kcore == ""
	}
	h.NoTextPoke, h.NoSwitch = true, true
	for _, a := range r.attrs {
		h.NoTextPoke = h.NoTextPoke && !a.Has(AttrTextPoke)
		h.NoSwitch = h.NoSwitch && !a.Has(AttrContextSwitch)
	}
}
