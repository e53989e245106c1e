package perfetto

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/ptdecode/ptdecode/cmd/internal/protofields"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/calls"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// state is what a reader keeps of a sequence: names of events, of annotations and texts of these, and the track of
// events that do not say theirs.
type state struct {
	names, notes, texts map[uint64]string
	track               uint64
}

// numbered reads an entry of InternedData, or the number and the name of a TrackDescriptor: their fields have the same numbers.
func numbered(t *testing.T, b []byte) (id uint64, text string) {
	protofields.Each(t, b, func(n protowire.Number, v uint64, b []byte) {
		switch n {
		case internedID:
			id = v
		case internedName:
			text = string(b)
		}
	})
	return id, text
}

// within returns the last field n of the message that is in field outer of b.
func within(t *testing.T, b []byte, outer, inner protowire.Number) (v uint64) {
	protofields.Each(t, b, func(n protowire.Number, _ uint64, b []byte) {
		if n == outer {
			protofields.Each(t, b, func(n protowire.Number, x uint64, _ []byte) {
				if n == inner {
					v = x
				}
			})
		}
	})
	return v
}

// slicesOf returns what a trace says of the slices of threads, by the names of their tracks, as Perfetto's definitions
// have readers take it.
func slicesOf(t *testing.T, trace []byte) map[string][]string {
	t.Helper()
	tracks, states, all := map[uint64]string{}, map[uint64]*state{}, map[string][]string{}
	protofields.Each(t, trace, func(_ protowire.Number, _ uint64, packet []byte) {
		var at, sequence, flags uint64
		parts := map[protowire.Number][]byte{}
		protofields.Each(t, packet, func(n protowire.Number, v uint64, b []byte) {
			switch n {
			case packetTimestamp:
				at = v
			case packetSequence:
				sequence = v
			case packetFlags:
				flags = v
			default:
				if parts[n] != nil {
					t.Fatalf("field %d is there twice: readers take the last", n)
				}
				parts[n] = b
			}
		})
		s := states[sequence]
		if s == nil || flags&flagsCleared != 0 {
			s = &state{map[uint64]string{}, map[uint64]string{}, map[uint64]string{}, 0}
			states[sequence] = s
		}
		if b := parts[packetDefaults]; b != nil {
			s.track = within(t, b, defaultsEvent, defaultsTrack)
		}
		protofields.Each(t, parts[packetInterned], func(n protowire.Number, _ uint64, b []byte) {
			id, text := numbered(t, b)
			map[protowire.Number]map[uint64]string{internedNames: s.names, internedNotes: s.notes, internedTexts: s.texts}[n][id] = text
		})
		if uuid, name := numbered(t, parts[packetDescriptor]); name != "" {
			tracks[uuid] = name
		}
		if b := parts[packetEvent]; b != nil {
			track, text := s.event(t, b)
			if track >= firstTask {
				all[tracks[track]] = append(all[tracks[track]], fmt.Sprint(at, text))
			}
		}
	})
	return all
}

// event returns which track an event is on, and what it says.
func (s *state) event(t *testing.T, b []byte) (track uint64, text string) {
	track = s.track
	protofields.Each(t, b, func(n protowire.Number, v uint64, b []byte) {
		switch n {
		case eventType:
			text += map[uint64]string{sliceBegin: " begins", sliceEnd: " ends"}[v]
		case eventTrack:
			track = v
		case eventName:
			text += " " + s.names[v]
		case eventAnnotations:
			protofields.Each(t, b, func(n protowire.Number, v uint64, b []byte) {
				switch n {
				case annotationNameID:
					text += " " + s.notes[v] + "="
				case annotationName, annotationString:
					text += string(b)
				case annotationUint:
					text += fmt.Sprint(v)
				case annotationTextID:
					text += s.texts[v]
				}
			})
		}
	})
	return track, text
}

// expected is what a tree tells of slices, in the form of slicesOf.
type expected struct {
	slices map[string][]string
	last   map[string]uint64
	names  map[int32]string // of threads, as each was first seen
}

// tells notes an event of a call.
func (x *expected) tells(c *calls.Call, at uint64, what string) {
	if x.names[c.TID] == "" {
		x.names[c.TID] = taskName(c.TID, c.Comm)
	}
	name := x.names[c.TID]
	if c.TID <= 0 {
		name = fmt.Sprintf("%s, %s", c.Stream.Name, map[bool]string{true: "idle", false: "thread not known"}[c.TID == 0])
	}
	x.last[name] = max(x.last[name], at)
	x.slices[name] = append(x.slices[name], fmt.Sprint(x.last[name], what))
}

// expect returns a tree that x is told by.
func (x *expected) expect(s *decoder.Session) *calls.Tree {
	begins := func(c *calls.Call) {
		name := c.Sym
		if name == "" {
			name = fmt.Sprintf("%#x", c.Addr)
		}
		x.tells(c, c.Begin.Likely(), " begins "+name)
	}
	return &calls.Tree{Session: s, OnBegin: begins, OnEnd: func(c *calls.Call) {
		at := c.End.Likely()
		if c.Ended == calls.AtEnd {
			at = c.End.Lo
		}
		x.tells(c, at, fmt.Sprintf(" ends instructions=%d verdict=%s ended=%s", c.Insns, c.Verdict, c.Ended))
	}}
}

// firstTime returns the first time that the sync points of a recording state, 0 if one states none, ns.
func firstTime(s *decoder.Session) uint64 {
	first := ^uint64(0)
	for _, st := range s.Streams() {
		if g, ok := st.After(0); ok {
			first = min(first, g.Time.Lo)
		}
	}
	return first
}

// TestToldSlices would catch a slice that a reader takes for another: of another thread, function or moment, or with other
// notes. It would catch a new name of a thread that the slices of what runs do not have. It would catch a slice long before
// the trace: a reader's axis of time would begin there. It compares with calls that are objects. It also compares the
// bytes with those that are written where each call may be left out, and so is looked at.
func TestToldSlices(t *testing.T) {
	names := []string{"kernel-pokes-x86/kprobes/perf.data", "kernel-pokes-x86/ftrace/perf.data", "kernel-pokes-x86/nomitig-late/perf.data", "kernel-pokes-arm64/repro/snapshot"}
	for _, name := range testsize.Some(t, names, 1) {
		s, err := decoder.Open(decoder.Config{Recording: filepath.Join(testsize.Recordings(t), name)})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		want := expected{map[string][]string{}, map[string]uint64{}, map[int32]string{}}
		tree := want.expect(s)
		var quick, each bytes.Buffer
		sinks := []*Sink{New(s, &quick, Options{}), New(s, &each, Options{Wants: func(*calls.Call) bool { return true }})}
		err = s.Flow(t.Context(), decoder.Query{Merged: true, Bounds: true}, sinkOf(func(b *decoder.Batch) error {
			return errors.Join(sinks[0].Flow(b), sinks[1].Flow(b), tree.Flow(b))
		}))
		tree.Close()
		if err := errors.Join(err, sinks[0].Close(), sinks[1].Close()); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(quick.Bytes(), each.Bytes()) {
			t.Errorf("%s: other bytes where each call is looked at", name)
		}
		if strings.Contains(name, "kprobes") && !bytes.Contains(quick.Bytes(), []byte("sh 121")) {
			t.Errorf("%s: no slice says that thread 121 runs as sh", name) // it was poker first
		}
		got := slicesOf(t, quick.Bytes())
		begins := firstTime(s)
		if len(got) != len(want.slices) || len(got) == 0 {
			t.Errorf("%s: %d threads, want %d", name, len(got), len(want.slices))
		}
		for thread, list := range want.slices {
			is := got[thread]
			if at := uint64(0); len(is) > 0 {
				if _, err := fmt.Sscan(is[0], &at); err != nil || at < begins {
					t.Errorf("%s: the trace begins at %d, and %s with %q (%v)", name, begins, thread, is[0], err)
				}
			}
			for i := range max(len(list), len(is)) {
				if i >= min(len(list), len(is)) || is[i] != list[i] {
					t.Fatalf("%s: %s: of %d events, want %d, this one differs: %d\n%q\n%q", name, thread, len(is), len(list), i, is[i:min(i+1, len(is))], list[i:min(i+1, len(list))])
				}
			}
		}
	}
}
