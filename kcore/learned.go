package kcore

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/ptdecode/ptdecode/decoder/badfile"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/kcore/image"
)

// Candidate is a site whose code may be other than what images and records say. What
// it may be comes from the kernel's tables, from another image, or from what the
// kernel does with such sites.
type Candidate struct {
	Addr uint64
	Code [][]byte // what may lie there, the likeliest first
	Why  string   // how it is known, for people: "jump label", "static call"
}

// Learned is code that no record tells of and the trace shows.
type Learned struct {
	Addr uint64
	Code []byte // throughout, or, where Was is set, from the change on
	// Was is what lay there until it changed once, as long as Code; nil: it did not.
	Was []byte
	// Change bounds when it changed, ns: from the last visit that only Was explains
	// to the first one that only Code explains. Lo is 0 or Hi math.MaxUint64 where no
	// visit says so.
	Change event.Time
	Had    []byte // what images and records say lay there; nil: nothing, or not all of them the same
	// Others is what may have lain there too: it does the same on every visit.
	Others [][]byte
	// Either: Others do not do the same everywhere, but the trace contradicts none of them. What
	// one of them does not share with Code is ambiguous.
	Either bool
	Why    string // as Candidate.Why
	// For counts the visits that it explains, Against those that it contradicts.
	For, Against int
}

// Range returns the addresses whose code is learned.
func (l *Learned) Range() image.Range { return image.Range{Addr: l.Addr, Len: uint64(len(l.Code))} }

// maxLearned is how many bytes of code are learned at one place at most.
const maxLearned = 64

// wrong returns what is wrong with l.
func (l *Learned) wrong() error {
	switch n := uint64(len(l.Code)); {
	case n == 0 || n > maxLearned:
		return fmt.Errorf("learned code at %#x: %d bytes, need 1 to %d", l.Addr, n, maxLearned)
	case l.Addr+(n-1) < l.Addr:
		return fmt.Errorf("learned code at %#x: %d bytes reach beyond the last address", l.Addr, n)
	case l.Was != nil && len(l.Was) != len(l.Code):
		return fmt.Errorf("learned code at %#x: %d bytes became %d", l.Addr, len(l.Was), n)
	case l.Change.Lo > l.Change.Hi:
		return fmt.Errorf("learned code at %#x: changed after %d ns and before %d ns", l.Addr, l.Change.Lo, l.Change.Hi)
	}
	return nil
}

// WithLearned returns the journal with a poke for each of list that changed once. It
// is j itself where none did.
func (j *Journal) WithLearned(list []Learned) (*Journal, error) {
	var more []Poke
	for i := range list {
		l := &list[i]
		if err := l.wrong(); err != nil {
			return nil, err
		}
		if l.Was == nil {
			continue
		}
		// Nothing is known of how it was written, so nothing of any order. That a CPU
		// saw it complete says nothing of other pokes, as for slots.
		more = append(more, Poke{
			Time: l.changed(), Begin: l.Change.Lo, End: l.Change.Hi, Addr: l.Addr, CPU: -1,
			Old: l.Was, New: l.Code, Scheme: SchemeSlot, Learned: true,
		})
	}
	if len(more) == 0 {
		return j, nil
	}
	pokes := slices.DeleteFunc(slices.Clone(j.pokes), func(p Poke) bool { return p.Mark() })
	return orderedJournal(append(pokes, more...), j.opt, j.rules), nil
}

// changed is the likeliest time of the change, ns. What was seen on one side of it only
// changed on the other side, however far off.
func (l *Learned) changed() uint64 {
	switch {
	case l.Change.Hi == math.MaxUint64:
		return math.MaxUint64 - 1
	case l.Change.Lo == 0:
		return 0
	}
	return l.Change.Likely()
}

// layOver returns img with the code of list over it that never changed.
func layOver(img *image.Image, list []Learned) *image.Image {
	over := img
	for i := range list {
		l := &list[i]
		if l.Was != nil || img == nil || l.wrong() != nil {
			continue
		}
		if over == img {
			over = img.View()
		}
		if over.AddBytes(l.Addr, l.Code) != nil {
			panic("kcore: learned code that was checked does not fit")
		}
	}
	return over
}

// learnedLine is a line of a file of what was learned (docs/formats/learned.md).
type learnedLine struct {
	Type    string   `json:"type"`
	Addr    string   `json:"addr"`
	Sym     string   `json:"sym,omitempty"`
	Kind    string   `json:"kind,omitempty"`
	Code    string   `json:"code"`
	Was     string   `json:"was,omitempty"`
	From    uint64   `json:"from,omitempty"`
	Until   uint64   `json:"until,omitempty"`
	Had     string   `json:"had,omitempty"`
	Others  []string `json:"others,omitempty"`
	Either  bool     `json:"either,omitempty"`
	For     int      `json:"visits_for"`
	Against int      `json:"visits_against"`
}

// The types of lines of a file of what was learned: a learnedLine, and one that has nothing else.
const learnedType, unlikeType = "learned", "unlike"

// AppendJSON appends l as a line of a file of what was learned. The symbol of its address
// is for people.
func (l *Learned) AppendJSON(dst []byte, symbol string) []byte {
	x := learnedLine{
		Type: learnedType, Addr: fmt.Sprintf("%016x", l.Addr), Sym: symbol, Kind: l.Why, Code: hex.EncodeToString(l.Code),
		Was: hex.EncodeToString(l.Was), From: l.Change.Lo, Until: l.Change.Hi, Had: hex.EncodeToString(l.Had), Either: l.Either, For: l.For, Against: l.Against,
	}
	if l.Change.Hi == math.MaxUint64 {
		x.Until = 0
	}
	for _, o := range l.Others {
		x.Others = append(x.Others, hex.EncodeToString(o))
	}
	b, err := json.Marshal(x)
	if err != nil {
		panic("kcore: learned code that is no JSON: " + err.Error())
	}
	return append(append(dst, b...), '\n')
}

// ParseLearned reads a file of what was learned, JSON Lines; name is for errors. Lines of
// other types are passed over. A file that has those alone is another one. unlike says that
// the code is another one throughout. An error is a *badfile.Error that names the line.
func ParseLearned(data []byte, name string) (list []Learned, unlike bool, err error) {
	off, others := int64(0), 0
	for no := 1; len(data) > 0; no++ {
		line, rest, _ := bytes.Cut(data, []byte{'\n'})
		if len(bytes.TrimSpace(line)) > 0 {
			l, kind, err := parseLearned(line)
			if err != nil {
				return nil, false, &badfile.Error{File: name, Off: off, What: fmt.Sprintf("line %d", no), Err: err}
			}
			if kind == learnedType {
				list = append(list, l)
			} else if others++; kind == unlikeType {
				unlike = true
			}
		}
		off += int64(len(data) - len(rest))
		data = rest
	}
	if others > 0 && list == nil && !unlike {
		return nil, false, &badfile.Error{File: name, What: fmt.Sprintf("none of %d lines has the type %q or %q: need what pokes --learned -o jsonl writes", others, learnedType, unlikeType)}
	}
	return list, unlike, nil
}

// parseLearned reads a line of some type.
func parseLearned(line []byte) (l Learned, kind string, err error) {
	var x learnedLine
	if err := json.Unmarshal(line, &x); err != nil {
		return l, "", fmt.Errorf("want one JSON object, as pokes --learned -o jsonl writes: %w", err)
	}
	if x.Type != learnedType {
		return l, x.Type, nil
	}
	l = Learned{Change: event.Time{Lo: x.From, Hi: x.Until}, Either: x.Either, Why: x.Kind, For: x.For, Against: x.Against}
	if l.Addr, err = strconv.ParseUint(x.Addr, 16, 64); err != nil {
		return l, x.Type, fmt.Errorf("addr %q, need up to 16 hexadecimal digits", x.Addr)
	}
	if x.Was != "" && x.Until == 0 {
		l.Change.Hi = math.MaxUint64
	}
	others := make([][]byte, len(x.Others))
	for _, f := range []struct {
		name, text string
		to         *[]byte
	}{{"code", x.Code, &l.Code}, {"was", x.Was, &l.Was}, {"had", x.Had, &l.Had}} {
		if f.text == "" {
			continue
		}
		if *f.to, err = hex.DecodeString(f.text); err != nil {
			return l, x.Type, fmt.Errorf("%s: %w", f.name, err)
		}
	}
	for i, o := range x.Others {
		if others[i], err = hex.DecodeString(o); err != nil {
			return l, x.Type, fmt.Errorf("others: %w", err)
		}
	}
	if len(others) > 0 {
		l.Others = others
	}
	return l, x.Type, l.wrong()
}
