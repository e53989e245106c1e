package export

import (
	"compress/gzip"
	"io"
	"strconv"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/ptdecode/ptdecode/cmd/internal/counts"
)

// threads is what pprof tells apart.
var threads = counts.Options{CPUs: true, Threads: true, Time: true}

// Fields of pprof's messages (github.com/google/pprof, proto/profile.proto), by message. Its own
// package compiles regular expressions whenever a program starts, half a millisecond.
const (
	profileSampleType  = 1
	profileSample      = 2
	profileMapping     = 3
	profileLocation    = 4
	profileFunction    = 5
	profileString      = 6
	profileDuration    = 10 // ns
	profilePeriodType  = 11
	profilePeriod      = 12
	profileDefaultType = 14

	valueType = 1
	valueUnit = 2

	sampleLocation = 1
	sampleValue    = 2
	sampleLabel    = 3

	labelName   = 1
	labelText   = 2
	labelNumber = 3

	mappingID        = 1
	mappingStart     = 2
	mappingLimit     = 3
	mappingFile      = 5
	mappingBuildID   = 6
	mappingFunctions = 7 // names of functions are there

	locationID      = 1
	locationMapping = 2
	locationAddress = 3
	locationLine    = 4
	lineFunction    = 1

	functionID         = 1
	functionNameField  = 2
	functionSystemName = 3
)

// writePprof writes a profile for pprof. It has a sample for each instruction of each thread on
// each CPU: how often it was executed, and the time that passed in it.
func writePprof(j *job, w io.Writer) error {
	b := &pprofBuilder{
		job: j, objects: j.newObjects(), names: counts.NewNames(j.session), strings: map[string]uint64{},
		functions: map[functionName]uint64{}, numbers: map[*object]uint64{}, locations: map[locationKey]uint64{}, labels: map[labelKey][]byte{},
	}
	b.text("")
	insns := b.valueType("instructions", "count")
	b.out = message(b.out, profileSampleType, insns)
	b.out = message(b.out, profileSampleType, b.valueType("time", "nanoseconds"))
	for _, g := range j.counter.Groups() {
		if g.Guest != 0 {
			continue
		}
		for _, r := range j.counter.Table(g).Ranges() {
			b.add(g, &r)
		}
	}
	z := gzip.NewWriter(w)
	for _, part := range [][]byte{b.out, b.mappings(), b.places, b.functionList(), b.table(), b.end(insns)} {
		if _, err := z.Write(part); err != nil {
			return err
		}
	}
	return z.Close()
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
	of    uint64 // the function's number
}

// pprofBuilder makes a profile. Things have numbers, from 1 on, as they come.
type pprofBuilder struct {
	job       *job
	objects   *objects
	names     *counts.Names
	out       []byte // types and samples
	places    []byte // locations
	scratch   []byte
	strings   map[string]uint64
	texts     []string // the strings by number
	functions map[functionName]uint64
	called    []string // functions' names, by number less 1
	numbers   map[*object]uint64
	files     []*object // by number less 1
	locations map[locationKey]uint64
	labels    map[labelKey][]byte
}

// message appends a field that is a message.
func message(b []byte, field protowire.Number, m []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), m)
}

// number appends a field that is a number.
func number(b []byte, field protowire.Number, n uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), n)
}

// unless0 appends a field that is a number, where it is not 0.
func unless0(b []byte, field protowire.Number, n uint64) []byte {
	if n == 0 {
		return b
	}
	return number(b, field, n)
}

// text returns a string's number; that of "" is 0.
func (b *pprofBuilder) text(s string) uint64 {
	n, ok := b.strings[s]
	if !ok {
		n = uint64(len(b.texts))
		b.strings[s] = n
		b.texts = append(b.texts, s)
	}
	return n
}

// valueType makes a ValueType.
func (b *pprofBuilder) valueType(typ, unit string) []byte {
	m := number(nil, valueType, b.text(typ))
	return number(m, valueUnit, b.text(unit))
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
func (b *pprofBuilder) sample(g counts.Group, location, n uint64, ns float64, verdict string) {
	of := labelKey{g, verdict}
	k, ok := b.labels[of]
	if !ok {
		k = b.label(of)
		b.labels[of] = k
	}
	m := number(b.scratch[:0], sampleLocation, location)
	m = number(m, sampleValue, n)
	m = number(m, sampleValue, uint64(int64(ns+0.5)))
	b.scratch = append(m, k...)
	b.out = message(b.out, profileSample, b.scratch)
}

// labelKey is what decides a sample's labels.
type labelKey struct {
	counts.Group
	verdict string
}

// label makes labels, which samples share: words by name, then numbers.
func (b *pprofBuilder) label(of labelKey) []byte {
	var all []byte
	word := func(name, s string) {
		m := number(nil, labelName, b.text(name))
		all = message(all, sampleLabel, unless0(m, labelText, b.text(s)))
	}
	if of.TID >= 0 {
		word("comm", of.Comm)
	}
	if st := b.job.session.Streams()[of.Stream]; st.CPU >= 0 {
		word("cpu", strconv.Itoa(int(st.CPU)))
	}
	if of.verdict != "" {
		word("verdict", of.verdict)
	}
	if of.TID >= 0 {
		m := number(nil, labelName, b.text("tid"))
		all = message(all, sampleLabel, unless0(m, labelNumber, uint64(of.TID)))
	}
	return all
}

// function returns the function of a place.
func (b *pprofBuilder) function(p counts.Place) uint64 {
	k := functionName{p.Sym, p.File}
	n := b.functions[k]
	if n == 0 {
		name := p.Sym
		if name == "" {
			name = "[unknown]"
			if p.File != "" {
				name = "[" + p.File + "]"
			}
		}
		b.called = append(b.called, name)
		n = uint64(len(b.called))
		b.functions[k] = n
	}
	return n
}

// location returns the location of an instruction of r.
func (b *pprofBuilder) location(r *counts.Range, addr uint64, fn uint64) uint64 {
	k := locationKey{r.Block.Space, addr, fn}
	n := b.locations[k]
	if n == 0 {
		n = uint64(len(b.locations) + 1)
		m := number(b.scratch[:0], locationID, n)
		if x := b.objects.at(r.Block.Space, addr, r.Seen); x != nil {
			m = number(m, locationMapping, b.mapping(x))
		}
		m = unless0(m, locationAddress, addr)
		b.scratch = message(m, locationLine, number(nil, lineFunction, fn))
		b.places = message(b.places, profileLocation, b.scratch)
		b.locations[k] = n
	}
	return n
}

// mapping returns the mapping of a file.
func (b *pprofBuilder) mapping(x *object) uint64 {
	n := b.numbers[x]
	if n == 0 {
		b.files = append(b.files, x)
		n = uint64(len(b.files))
		b.numbers[x] = n
	}
	return n
}

// mappings makes the mappings, once all code was seen.
func (b *pprofBuilder) mappings() (all []byte) {
	for i, x := range b.files {
		file := x.File
		if file == "" {
			file = x.Name
		}
		m := number(nil, mappingID, uint64(i+1))
		m = unless0(m, mappingStart, x.Start)
		m = unless0(m, mappingLimit, x.Start+x.size)
		m = unless0(m, mappingFile, b.text(file))
		m = unless0(m, mappingBuildID, b.text(x.BuildID))
		all = message(all, profileMapping, number(m, mappingFunctions, 1))
	}
	return all
}

// functionList makes the functions.
func (b *pprofBuilder) functionList() (all []byte) {
	for i, name := range b.called {
		m := number(nil, functionID, uint64(i+1))
		m = number(m, functionNameField, b.text(name))
		all = message(all, profileFunction, number(m, functionSystemName, b.text(name)))
	}
	return all
}

// table makes the strings. What comes behind it names none that is new.
func (b *pprofBuilder) table() (all []byte) {
	for _, s := range b.texts {
		all = message(all, profileString, []byte(s))
	}
	return all
}

// end makes what stands behind the strings. insns is the type of the first value.
func (b *pprofBuilder) end(insns []byte) []byte {
	m := unless0(nil, profileDuration, uint64(b.job.duration()))
	m = message(m, profilePeriodType, insns)
	m = number(m, profilePeriod, 1)
	return number(m, profileDefaultType, b.text("instructions"))
}
