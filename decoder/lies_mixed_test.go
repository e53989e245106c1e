package decoder

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/internal/recording"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
)

// mixedLie tells two to four lies at once: other code at a site, records that are wrong or missing,
// and damaged trace. Programs may be traced too, whose code is not at hand.
func mixedLie(t testing.TB, o *original, r *rand.Rand) *lie {
	records := []func(o *original, r *rand.Rand) *lie{
		func(o *original, r *rand.Rand) *lie { return dropLie(o, r, false) },
		func(o *original, r *rand.Rand) *lie { return dropLie(o, r, true) },
		twiceLie, lateLie,
		func(o *original, r *rand.Rand) *lie { return bytesLie(o, r, r.IntN(2) == 0) },
	}
	made := []func() *lie{ // in the order in which they change the recording
		func() *lie { return usersLie(t, o, r, r.IntN(2) == 0) },
		func() *lie { return damagedLie(r) },
		func() *lie { return imageLie(o, r) },
		func() *lie { return records[r.IntN(len(records))](o, r) },
	}
	for n := 2 + r.IntN(3); len(made) > n; {
		i := r.IntN(len(made))
		made = append(made[:i], made[i+1:]...)
	}
	all := &lie{}
	var what []string
	var changes []func(*recording.Recording)
	for _, make := range made {
		x := make()
		if x == nil {
			continue
		}
		what, changes = append(what, x.what), append(changes, x.change)
		all.flips = all.flips || x.flips
		if x.original != nil {
			all.original = x.original
		}
	}
	all.what = strings.Join(what, "; ")
	all.change = func(rec *recording.Recording) {
		for _, change := range changes {
			change(rec)
		}
	}
	return all
}

// damagedLie changes a few bytes of trace, whatever that is by then.
func damagedLie(r *rand.Rand) *lie {
	seed := r.Uint64()
	return &lie{what: "damaged trace", flips: true, change: func(rec *recording.Recording) {
		r := rand.New(rand.NewPCG(seed, 0))
		for range flippedBytes {
			st := rec.Streams[r.IntN(len(rec.Streams))]
			b := bytes.Clone(st.Data.Bytes(0, st.Size))
			b[r.IntN(len(b))] ^= byte(1 + r.IntN(255))
			st.Data = stream.Memory(b)
		}
	}}
}
