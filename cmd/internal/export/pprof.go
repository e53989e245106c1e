package export

import (
	"cmp"
	"context"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/google/pprof/profile"

	"github.com/ptdecode/ptdecode/cmd/internal/counts"
	"github.com/ptdecode/ptdecode/cmd/internal/filter"
	"github.com/ptdecode/ptdecode/cmd/internal/host"
	"github.com/ptdecode/ptdecode/decoder"
)

// pprof is a profile for pprof (github.com/google/pprof, proto/profile.proto). It has a
// sample for each instruction of each thread on each CPU, in each stack of calls. Values are
// how often it was executed, the time that passed in it, and calls that began with it.
type pprof struct {
	*stacked
	w io.Writer
}

// newPprof returns the sink of the format pprof.
func newPprof(j *job, w io.Writer) (host.Sink, error) { return &pprof{newStacked(j), w}, nil }

// Close writes the profile.
func (p *pprof) Close() error {
	if err := p.stacked.Close(); err != nil {
		return err
	}
	b := newPprofBuilder(p.stacked)
	all := b.profile()
	if b.sum == 0 && p.job.executedAny() {
		p.job.host.Say("pprof: the time of each sample is 0: %s", p.job.timeless("no instruction has a time"))
	}
	return all.Write(p.w)
}

// executedAny reports whether anything is counted of what is asked for.
func (j *job) executedAny() bool { return j.counter.Instructions != counts.Count{} }

// timeless says why nothing has a time: otherwise, where the trace states times.
func (j *job) timeless(otherwise string) string {
	if first, _ := filter.Traced(j.session, j.filter.Query.Streams); first == 0 {
		return "the trace states no time"
	}
	return otherwise
}

// duration returns how long the trace of what is asked for is, ns; 0 where it has no times.
func (j *job) duration() int64 {
	q := &j.filter.Query
	lo, hi := filter.Within(j.session, q.Streams, q.From, q.Until)
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

// sampleKey is what makes a sample.
type sampleKey struct {
	group, stack int32
	verdict      string
	space        uint32
	at           *profile.Location
}

// sampleCount is what was counted of a sample.
type sampleCount struct {
	insns, calls uint64
	time         counts.Time
}

// pprofBuilder makes a profile.
type pprofBuilder struct {
	of        *stacked
	whole     bool // a sample for each function, not for each instruction
	objects   *objects
	names     *counts.Names
	p         *profile.Profile
	functions map[functionName]*profile.Function
	mappings  map[*object]*profile.Mapping
	locations map[locationKey]*profile.Location
	samples   map[sampleKey]*sampleCount
	stacks    [][]*profile.Location // by number: the innermost call's caller first
	spaces    []uint32              // by number of a stack: the address space that it is of
	labels    map[labelKey]labels
	sum       counts.Time // of samples; rounded as a whole, else small parts would add up to a wrong one
}

// newPprofBuilder returns what makes a profile of what k counted.
func newPprofBuilder(k *stacked) *pprofBuilder {
	return &pprofBuilder{
		of: k, objects: k.job.newObjects(), names: counts.NewNames(k.job.session),
		functions: map[functionName]*profile.Function{}, mappings: map[*object]*profile.Mapping{}, locations: map[locationKey]*profile.Location{},
		samples: map[sampleKey]*sampleCount{}, stacks: make([][]*profile.Location, len(k.stacks)), spaces: make([]uint32, len(k.stacks)), labels: map[labelKey]labels{},
		p: &profile.Profile{
			SampleType:        []*profile.ValueType{{Type: "instructions", Unit: "count"}, {Type: "time", Unit: "nanoseconds"}, {Type: "calls", Unit: "count"}},
			DefaultSampleType: "instructions",
			PeriodType:        &profile.ValueType{Type: "instructions", Unit: "count"},
			Period:            1,
		},
	}
}

// profile makes the profile.
func (b *pprofBuilder) profile() *profile.Profile {
	for _, x := range b.of.cells {
		b.spaces[x.stack] = max(b.spaces[x.stack], x.block.Space)
		b.add(x)
	}
	for k, n := range b.of.began {
		s, space := &b.of.stacks[k.stack], b.spaces[k.stack]
		b.sample(sampleKey{k.group, k.stack, "", space, b.location(space, s.addr, 0, b.function(counts.Place{Sym: s.sym, File: s.file}))}).calls += n
	}
	keys := slices.SortedFunc(maps.Keys(b.samples), func(x, y sampleKey) int {
		return cmp.Or(cmp.Compare(x.group, y.group), cmp.Compare(x.stack, y.stack), cmp.Compare(x.verdict, y.verdict), cmp.Compare(x.space, y.space), b.compare(x.at, y.at))
	})
	for _, k := range keys {
		n := b.samples[k]
		before := b.sum.Nanoseconds()
		b.sum += n.time
		of := labelKey{b.of.groups[k.group], k.verdict}
		l, ok := b.labels[of]
		if !ok {
			l = b.label(of)
			b.labels[of] = l
		}
		b.p.Sample = append(b.p.Sample, &profile.Sample{
			Location: append([]*profile.Location{k.at}, b.callers(k.stack)...),
			Value:    []int64{int64(n.insns), int64(b.sum.Nanoseconds()+0.5) - int64(before+0.5), int64(n.calls)}, Label: l.words, NumLabel: l.numbers,
		})
	}
	for x, m := range b.mappings {
		m.Limit = x.Start + x.size
	}
	b.inOrder()
	b.p.DurationNanos = b.of.job.duration()
	return b.p
}

// compare orders locations by address and function.
func (b *pprofBuilder) compare(x, y *profile.Location) int {
	f, g := x.Line[0].Function, y.Line[0].Function
	return cmp.Or(cmp.Compare(x.Address, y.Address), cmp.Compare(f.Name, g.Name), cmp.Compare(f.Filename, g.Filename))
}

// inOrder numbers what the samples name, in the order in which they do.
func (b *pprofBuilder) inOrder() {
	for _, s := range b.p.Sample {
		for _, l := range s.Location {
			if l.ID != 0 {
				continue
			}
			b.p.Location = append(b.p.Location, l)
			l.ID = uint64(len(b.p.Location))
			if f := l.Line[0].Function; f.ID == 0 {
				b.p.Function = append(b.p.Function, f)
				f.ID = uint64(len(b.p.Function))
			}
			if m := l.Mapping; m != nil && m.ID == 0 {
				b.p.Mapping = append(b.p.Mapping, m)
				m.ID = uint64(len(b.p.Mapping))
			}
		}
	}
}

// add adds samples of the instructions of x; where functions are asked for, one of each.
func (b *pprofBuilder) add(x *cell) {
	r := counts.Range{Block: x.block, Insns: int(x.insns), Seen: x.seen}
	for _, piece := range b.names.Pieces(nil, &r) {
		fn := b.function(piece.Place)
		if b.whole {
			b.took(x, b.location(x.block.Space, piece.Addr-piece.Off, x.seen, fn), piece.To-piece.First)
			continue
		}
		a := piece.Addr
		for i := piece.First; i < piece.To; i++ {
			b.took(x, b.location(x.block.Space, a, x.seen, fn), 1)
			a += uint64(x.block.Lens[i])
		}
	}
}

// took counts n instructions of x at a location.
func (b *pprofBuilder) took(x *cell, at *profile.Location, n int) {
	add := func(verdict string, times uint64, took counts.Time) {
		s := b.sample(sampleKey{x.group, x.stack, verdict, x.block.Space, at})
		s.insns += times * uint64(n)
		s.time += took / counts.Time(x.insns) * counts.Time(n)
	}
	if x.N > 0 {
		add("", x.N, x.time)
	}
	if x.Ambiguous > 0 && b.of.job.ambiguous {
		add("ambiguous", x.Ambiguous, x.unsure)
	}
}

// sample returns the counts of a sample.
func (b *pprofBuilder) sample(k sampleKey) *sampleCount {
	n := b.samples[k]
	if n == nil {
		n = new(sampleCount)
		b.samples[k] = n
	}
	return n
}

// callers returns the locations outside of the innermost call of a stack: where each caller
// stands, or where it begins if that is not known.
func (b *pprofBuilder) callers(stack int32) []*profile.Location {
	s := &b.of.stacks[stack]
	if stack == 0 || s.outer == 0 {
		return nil
	}
	if b.stacks[stack] == nil {
		up := &b.of.stacks[s.outer]
		l := b.location(b.spaces[s.outer], cmp.Or(s.site, up.addr), 0, b.function(counts.Place{Sym: up.sym, File: up.file}))
		b.stacks[stack] = append([]*profile.Location{l}, b.callers(s.outer)...)
	}
	return b.stacks[stack]
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
	if st := b.of.job.session.Streams()[of.Stream]; st.CPU >= 0 {
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
		f = &profile.Function{Name: name, SystemName: name}
		b.functions[k] = f
	}
	return f
}

// location returns the location of an instruction, executed at a time, ns.
func (b *pprofBuilder) location(space uint32, addr, time uint64, fn *profile.Function) *profile.Location {
	k := locationKey{space, addr, fn}
	l := b.locations[k]
	if l == nil {
		l = &profile.Location{Address: addr, Line: []profile.Line{{Function: fn}}}
		if x := b.objects.at(space, addr, time); x != nil {
			l.Mapping = b.mapping(x)
		}
		b.locations[k] = l
	}
	return l
}

// mapping returns the mapping of a file.
func (b *pprofBuilder) mapping(x *object) *profile.Mapping {
	m := b.mappings[x]
	if m == nil {
		m = &profile.Mapping{Start: x.Start, File: cmp.Or(x.File, x.Name), BuildID: x.BuildID, HasFunctions: true}
		b.mappings[x] = m
	}
	return m
}

// Profile returns a profile of what f lets through of the flow of s, for pages. It is that of
// the format pprof, but with a sample for each function of a stack, at its first instruction.
// With one for each instruction pages of pprof have many megabytes. left says what is left out
// of it, and is the error that the verb ends with then.
func Profile(ctx context.Context, h *host.Host, s *decoder.Session, f *host.Filter, ambiguous bool) (p *profile.Profile, left error, err error) {
	j := &job{host: h, session: s, filter: f, ambiguous: ambiguous, counter: counts.New(s, f, counts.Options{Bare: true, Since: f.Query.From})}
	k := newStacked(j)
	all := &fanOut{counter: j.counter, sinks: []host.Sink{k}}
	if err := all.end(h.Deliver(ctx, s, j.query([]target{{format: formatNamed("pprof")}}), all)); err != nil {
		return nil, nil, err
	}
	b := newPprofBuilder(k)
	b.whole = true
	return b.profile(), j.lacking(), nil
}
