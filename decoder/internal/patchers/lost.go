package patchers

import (
	"maps"
	"math"
	"slices"

	"github.com/ptdecode/ptdecode/decoder/internal/perfdata"
	"github.com/ptdecode/ptdecode/decoder/internal/sideband"
)

// tails finds where samples of patchers were lost behind all that was recorded. A CPU's
// LOST record comes with the next record that fits the buffer. Where none does any more,
// only LOST_SAMPLES tells, which perf makes in the end of what the kernel counted by event
// (tools/perf/builtin-record.c, record__read_lost_samples, v6.12).
type tails struct {
	r       *perfdata.Recording
	cpuOf   map[uint64]int32 // by event id
	last    map[int32]uint64 // ns: time of a CPU's last record
	told    map[int32]uint64 // how many were lost on a CPU by LOST records
	counted map[int32]uint64 // and by LOST_SAMPLES
	watched map[int32]bool   // samples of patchers are among those
}

func newTails(r *perfdata.Recording) *tails {
	t := &tails{r, map[uint64]int32{}, map[int32]uint64{}, map[int32]uint64{}, map[int32]uint64{}, map[int32]bool{}}
	for _, e := range r.IDIndex() {
		t.cpuOf[e.ID] = e.CPU
	}
	return t
}

// note takes a record.
func (t *tails) note(rec *perfdata.Record) {
	if rec.HasTime() && rec.Time != 0 {
		t.last[rec.CPU] = max(t.last[rec.CPU], rec.Time)
	}
	if rec.Type != perfdata.TypeLost && (rec.Type != perfdata.TypeLostSamples || rec.Misc&perfdata.MiscLostBPF != 0) {
		return
	}
	l, err := rec.Lost()
	if err != nil {
		return // told of elsewhere
	}
	if rec.Type == perfdata.TypeLost {
		t.told[rec.CPU] += l.Lost
		return
	}
	cpu, ok := t.cpuOf[rec.ID]
	if !ok {
		cpu = -1
	}
	t.counted[cpu] += l.Lost
	t.watched[cpu] = t.watched[cpu] || l.Lost > 0 && rec.Attr != nil && Watches(rec.Attr, t.r)
}

// give gives a time up to the end for each CPU that lost samples of patchers there. Where
// it is not known which CPU did, all count.
func (t *tails) give(take Take) error {
	for _, cpu := range slices.Sorted(maps.Keys(t.watched)) {
		told, since := t.told[cpu], t.last[cpu]
		if cpu < 0 {
			told, since = 0, uint64(math.MaxUint64)
			for c, n := range t.last {
				told, since = told+t.told[c], min(since, n)
			}
		}
		if !t.watched[cpu] || t.counted[cpu] <= told {
			continue
		}
		if err := take(sideband.UnknownPokes(math.MaxUint64, &since), t.r.Name(), 0); err != nil {
			return err
		}
	}
	return nil
}
