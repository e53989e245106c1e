package export

import (
	"io"
	"strconv"
	"time"

	"github.com/google/pprof/profile"

	"github.com/ptdecode/ptdecode/cmd/internal/counts"
)

// threads is what pprof tells apart.
var threads = counts.Options{CPUs: true, Threads: true, Time: true}

// writePprof writes a profile for pprof (github.com/google/pprof, proto/profile.proto). It
// has a sample for each instruction of each thread on each CPU: how often it was executed,
// and the time that passed in it.
func writePprof(j *job, w io.Writer) error {
	b := &pprofBuilder{
		job: j, objects: j.newObjects(), names: counts.NewNames(j.session),
		functions: map[functionName]*profile.Function{}, mappings: map[*object]*profile.Mapping{}, locations: map[locationKey]*profile.Location{}, labels: map[labelKey]labels{},
		p: &profile.Profile{
			SampleType:        []*profile.ValueType{{Type: "instructions", Unit: "count"}, {Type: "time", Unit: "nanoseconds"}},
			DefaultSampleType: "instructions",
			PeriodType:        &profile.ValueType{Type: "instructions", Unit: "count"},
			Period:            1,
		},
	}
	for _, g := range j.counter.Groups() {
		if g.Guest != 0 {
			continue
		}
		for _, r := range j.counter.Table(g).Ranges() {
			b.add(g, &r)
		}
	}
	for x, m := range b.mappings {
		m.Limit = x.Start + x.size
	}
	b.p.DurationNanos = j.duration()
	return b.p.Write(w)
}

// duration returns how long the recording's trace is, ns; 0 where it has no times.
func (j *job) duration() int64 {
	lo, hi := uint64(0), uint64(0)
	for _, st := range j.session.Streams() {
		if t := st.Time(); t.Lo != 0 {
			if lo == 0 || t.Lo < lo {
				lo = t.Lo
			}
			hi = max(hi, t.Hi)
		}
	}
	if hi-lo > uint64(100*365*24*time.Hour) { // one of the two is not known
		return 0
	}
	return int64(hi - lo)
}

// functionName is what makes a function.
type functionName struct{ sym, file string }

// locationKey is an address in an address space, with the function that it was of.
type locationKey struct {
	space uint32
	addr  uint64
	of    *profile.Function
}

// pprofBuilder makes a profile.
type pprofBuilder struct {
	job       *job
	objects   *objects
	names     *counts.Names
	p         *profile.Profile
	functions map[functionName]*profile.Function
	mappings  map[*object]*profile.Mapping
	locations map[locationKey]*profile.Location
	labels    map[labelKey]labels
}

// add adds samples of the instructions of r, which g executed.
func (b *pprofBuilder) add(g counts.Group, r *counts.Range) {
	for _, piece := range b.names.Pieces(nil, r) {
		fn := b.function(piece.Place)
		a := piece.Addr
		for i := piece.First; i < piece.To; i++ {
			l := b.location(r, a, fn)
			if r.N > 0 {
				b.sample(g, l, r.N, r.Time/float64(r.Insns), "")
			}
			if r.Ambiguous > 0 && b.job.ambiguous {
				b.sample(g, l, r.Ambiguous, 0, "ambiguous")
			}
			a += uint64(r.Block.Lens[i])
		}
	}
}

// sample adds one sample.
func (b *pprofBuilder) sample(g counts.Group, l *profile.Location, n uint64, ns float64, verdict string) {
	of := labelKey{g, verdict}
	k, ok := b.labels[of]
	if !ok {
		k = b.label(of)
		b.labels[of] = k
	}
	b.p.Sample = append(b.p.Sample, &profile.Sample{
		Location: []*profile.Location{l}, Value: []int64{int64(n), int64(ns + 0.5)}, Label: k.words, NumLabel: k.numbers,
	})
}

// labelKey is what decides a sample's labels.
type labelKey struct {
	counts.Group
	verdict string
}

// labels are a sample's. Samples share them.
type labels struct {
	words   map[string][]string
	numbers map[string][]int64
}

// label makes labels.
func (b *pprofBuilder) label(of labelKey) labels {
	k := labels{map[string][]string{}, map[string][]int64{}}
	if st := b.job.session.Streams()[of.Stream]; st.CPU >= 0 {
		k.words["cpu"] = []string{strconv.Itoa(int(st.CPU))}
	}
	if of.TID >= 0 {
		k.numbers["tid"] = []int64{int64(of.TID)}
		k.words["comm"] = []string{of.Comm}
	}
	if of.verdict != "" {
		k.words["verdict"] = []string{of.verdict}
	}
	return k
}

// function returns the function of a place.
func (b *pprofBuilder) function(p counts.Place) *profile.Function {
	k := functionName{p.Sym, p.File}
	f := b.functions[k]
	if f == nil {
		name := p.Sym
		if name == "" {
			name = "[unknown]"
			if p.File != "" {
				name = "[" + p.File + "]"
			}
		}
		f = &profile.Function{ID: uint64(len(b.functions) + 1), Name: name, SystemName: name}
		b.functions[k] = f
		b.p.Function = append(b.p.Function, f)
	}
	return f
}

// location returns the location of an instruction of r.
func (b *pprofBuilder) location(r *counts.Range, addr uint64, fn *profile.Function) *profile.Location {
	k := locationKey{r.Block.Space, addr, fn}
	l := b.locations[k]
	if l == nil {
		l = &profile.Location{ID: uint64(len(b.locations) + 1), Address: addr, Line: []profile.Line{{Function: fn}}}
		if x := b.objects.at(r.Block.Space, addr, r.Seen); x != nil {
			l.Mapping = b.mapping(x)
		}
		b.locations[k] = l
		b.p.Location = append(b.p.Location, l)
	}
	return l
}

// mapping returns the mapping of a file.
func (b *pprofBuilder) mapping(x *object) *profile.Mapping {
	m := b.mappings[x]
	if m == nil {
		m = &profile.Mapping{ID: uint64(len(b.mappings) + 1), Start: x.Start, File: x.File, BuildID: x.BuildID, HasFunctions: true}
		if m.File == "" {
			m.File = x.Name
		}
		b.mappings[x] = m
		b.p.Mapping = append(b.p.Mapping, m)
	}
	return m
}
