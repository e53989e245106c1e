package decoder

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/recording"
	"github.com/ptdecode/ptdecode/kcore"
)

// lie is a recording of which some input says what was not so.
type lie struct {
	what     string // what is changed, for people
	config   func(*Config)
	change   func(*recording.Recording)
	kind     siteKind    // of sites
	sites    []learnable // where the code is another than what ran, if that is told
	flips    bool        // the trace itself is another
	original *original   // what is true of it; nil: of it is true what is true of the recording
}

// learnable is a site of which the code says something else than what lay there.
type learnable struct {
	addr uint64
	code []byte // what lay there
}

// lieKind is a kind of lies, and how one of a seed is made; nil: o has none.
type lieKind struct {
	name string
	make func(o *original, r *rand.Rand) *lie
}

// lieKinds returns the kinds of which there are many cases.
func lieKinds(t testing.TB) []lieKind {
	return []lieKind{
		{"image", imageLie},
		{"dropped", func(o *original, r *rand.Rand) *lie { return dropLie(o, r, false) }},
		{"lost", func(o *original, r *rand.Rand) *lie { return dropLie(o, r, true) }},
		{"twice", twiceLie},
		{"late", lateLie},
		{"old", func(o *original, r *rand.Rand) *lie { return bytesLie(o, r, false) }},
		{"new", func(o *original, r *rand.Rand) *lie { return bytesLie(o, r, true) }},
		{"holes", holesLie},
		{"flipped", flippedLie},
		{"mixed", func(o *original, r *rand.Rand) *lie { return mixedLie(t, o, r) }},
	}
}

// random returns the numbers of a case: of all cases of all kinds and recordings
// other ones.
func random(kind, recording string, seed uint64) *rand.Rand {
	h := uint64(14695981039346656037) // FNV-1a
	for _, c := range []byte(kind + "/" + recording) {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return rand.New(rand.NewPCG(seed, h))
}

// imageLie puts other plausible code at one site of the image that no record names.
// Three in four of the sites were executed.
func imageLie(o *original, r *rand.Rand) *lie {
	kind, ran := siteKind(r.IntN(4)), r.IntN(4) > 0
	for range 1000 {
		x := site{kind: anyInsn}
		if kind == anyInsn && ran {
			c := o.ran[r.IntN(len(o.ran))]
			x.addr, x.ran = c.ips[r.IntN(len(c.ips))], true
		} else {
			x = o.sites[r.IntN(len(o.sites))]
			if x.kind != kind && kind != anyInsn {
				continue
			}
			x.kind = kind
		}
		if x.ran != ran || !o.known(x.addr) {
			continue
		}
		if have, other := x.other(o, r); other != nil {
			how := "ran"
			if !ran {
				how = "never ran"
			}
			return &lie{
				what: fmt.Sprintf("%v %x (%s) %x -> %x", x.kind, x.addr, how, have, other),
				change: func(rec *recording.Recording) {
					rec.Code = append(rec.Code, recording.Code{Addr: x.addr, Bytes: other})
				},
				kind:  x.kind,
				sites: []learnable{{x.addr, have}},
			}
		}
	}
	return nil
}

// dropLie leaves out records: one, one site's, a few in a row, a tenth or half of
// all. With told, LOST records say when.
func dropLie(o *original, r *rand.Rand, told bool) *lie {
	n := len(o.pokes)
	gone := make([]bool, n)
	i := r.IntN(n)
	what := ""
	switch r.IntN(5) {
	case 0:
		gone[i] = true
		what = fmt.Sprintf("poke %d %s", i, pokeText(&o.pokes[i]))
	case 1:
		for k := range gone {
			gone[k] = o.pokes[k].Addr == o.pokes[i].Addr
		}
		what = fmt.Sprintf("all pokes at %x", o.pokes[i].Addr)
	case 2:
		k := min(2+r.IntN(40), n-i)
		for j := range k {
			gone[i+j] = true
		}
		what = fmt.Sprintf("pokes %d to %d", i, i+k-1)
	default:
		of := []int{10, 2}[r.IntN(2)]
		for k := range gone {
			gone[k] = r.IntN(of) == 0
		}
		what = fmt.Sprintf("1 in %d pokes", of)
	}
	return &lie{what: what, change: func(rec *recording.Recording) {
		if told {
			rec.Lost = append(rec.Lost, lostBetween(rec.Pokes, gone)...)
		}
		k := -1
		rec.Pokes = slices.DeleteFunc(rec.Pokes, func(kcore.Poke) bool { k++; return gone[k] })
	}}
}

// lostBetween says when the records were lost that are gone, as a LOST record does:
// since the newest event of the CPU before, and up to the next one.
func lostBetween(pokes []kcore.Poke, gone []bool) (lost []event.Time) {
	for i := 0; i < len(gone); i++ {
		if !gone[i] {
			continue
		}
		j := i
		for j < len(gone) && gone[j] {
			j++
		}
		t := event.Time{Lo: pokes[i].Time - 1, Hi: pokes[j-1].Time + 1}
		if i > 0 {
			t.Lo = pokes[i-1].Time
		}
		if j < len(pokes) {
			t.Hi = pokes[j].Time
		}
		lost = append(lost, t)
		i = j
	}
	return lost
}

// holesLie has zeros in place of code, as a copy of /proc/kcore has where nothing was mapped. Most of it was executed.
func holesLie(o *original, r *rand.Rand) *lie {
	var code []recording.Code
	what := "zeros at"
	for range 1 + r.IntN(20) {
		ips := o.ran[r.IntN(len(o.ran))].ips
		n := []uint64{64, 512, 4096}[r.IntN(3)]
		at := ips[r.IntN(len(ips))] &^ (n - 1)
		what += fmt.Sprintf(" %x+%#x", at, n)
		code = append(code, recording.Code{Addr: at, Bytes: make([]byte, n)})
	}
	return &lie{what: what, change: func(rec *recording.Recording) { rec.Code = append(rec.Code, code...) }}
}

// someOf returns which of n pokes a case is about: one, or a tenth of all.
func someOf(o *original, r *rand.Rand) (is []bool, what string) {
	is = make([]bool, len(o.pokes))
	if r.IntN(2) == 0 {
		i := r.IntN(len(is))
		is[i] = true
		return is, fmt.Sprintf("poke %d %s", i, pokeText(&o.pokes[i]))
	}
	for k := range is {
		is[k] = r.IntN(10) == 0
	}
	return is, "1 in 10 pokes"
}

// pokeText is p on a line.
func pokeText(p *kcore.Poke) string {
	return fmt.Sprintf("%x %x -> %x at %d", p.Addr, p.Old, p.New, p.Time)
}

// twiceLie gives records twice.
func twiceLie(o *original, r *rand.Rand) *lie {
	is, what := someOf(o, r)
	return &lie{what: what, change: func(rec *recording.Recording) {
		var list []kcore.Poke
		for i, p := range rec.Pokes {
			if list = append(list, p); is[i] {
				list = append(list, p)
			}
		}
		rec.Pokes = list
	}}
}

// maxLate is by how much a record may come late, ns.
const maxLate = 20_000

// lateLie makes records late. Their order may change.
func lateLie(o *original, r *rand.Rand) *lie {
	is, what := someOf(o, r)
	late := make([]uint64, len(is))
	for i := range late {
		if is[i] {
			late[i] = 1 + r.Uint64N(maxLate)
			if len(what) > 0 && what[0] == 'p' {
				what += fmt.Sprintf(", late by %d ns", late[i])
			}
		}
	}
	return &lie{what: what, change: func(rec *recording.Recording) {
		for i := range rec.Pokes {
			p := &rec.Pokes[i]
			p.Time, p.Begin, p.End = p.Time+late[i], p.Begin+late[i], p.End+late[i]
		}
	}}
}

// bytesLie gives a record wrong old or new bytes: those of another record of that
// length, or with one bit other.
func bytesLie(o *original, r *rand.Rand, isNew bool) *lie {
	side := func(p *kcore.Poke) *[]byte {
		if isNew {
			return &p.New
		}
		return &p.Old
	}
	for range 1000 {
		i, j := r.IntN(len(o.pokes)), r.IntN(len(o.pokes))
		p := &o.pokes[i]
		have := *side(p)
		other := slices.Clone(*side(&o.pokes[j]))
		if r.IntN(2) == 0 && len(have) > 0 {
			other = slices.Clone(have)
			other[r.IntN(len(other))] ^= 1 << r.IntN(8)
		}
		if len(have) == 0 || len(other) != len(have) || slices.Equal(have, other) {
			continue
		}
		return &lie{what: fmt.Sprintf("poke %d %s: %x", i, pokeText(p), other), change: func(rec *recording.Recording) {
			*side(&rec.Pokes[i]) = other
		}}
	}
	return nil
}

// wholeLies returns what is wrong throughout: each is one case.
func wholeLies(t testing.TB, o *original, tables *siteTables) map[string]*lie {
	all := map[string]*lie{
		"vmlinux": {what: "the vmlinux in place of the kcore", config: func(c *Config) { c.Kcore = tables.vmlinux }},
	}
	if o.name == "nomitig-late" || o.name == "ftrace" {
		all["users"] = usersLie(t, o, random("users", o.name, 0), false)
	}
	if o.name == "nomitig-late" {
		after := o.config.Recording + "/../kcore.after"
		all["late-lost"] = &lie{
			what: "the kcore of after the recording alone, and a LOST record, though no record is missing", config: func(c *Config) { c.Kcore = after },
			change: func(rec *recording.Recording) {
				i := len(rec.Pokes) * 9 / 10
				rec.Lost = append(rec.Lost, event.Time{Lo: rec.Pokes[i-1].Time, Hi: rec.Pokes[i].Time})
			},
		}
		all["late-kcore"] = &lie{what: "the kcore of after the recording alone", config: func(c *Config) { c.Kcore = after }}
		all["both-kcores"] = &lie{what: "both kcores", config: func(c *Config) { c.Late = after }}
		all["early-kcore"] = &lie{what: "nothing: the kcore of before the recording", config: func(*Config) {}}
	}
	return all
}
