package perfetto

import (
	"encoding/binary"
	"sync"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/calls"
)

// The notes at the end of each call have names and texts by number. A thread's sequence says what these are where it
// begins its names anew.

// Numbers of the names of these notes.
const (
	noteInstructions = 1 + iota
	noteVerdict
	noteEnded
)

// calledNotes is their names.
var calledNotes = [...]string{noteInstructions: "instructions", noteVerdict: "verdict", noteEnded: "ended"}

// Numbers of their texts: of a verdict, of how a call ended.
const (
	firstVerdict = 1
	firstEnded   = firstVerdict + int(decoder.Ambiguous) + 1
)

// noteTexts returns their texts, by number.
var noteTexts = sync.OnceValue(func() []string {
	list := make([]string, firstEnded)
	for v := decoder.Certain; v <= decoder.Ambiguous; v++ {
		list[firstVerdict+int(v)] = v.String()
	}
	for w := calls.InProgress; w <= calls.AtEnd; w++ {
		list = append(list, w.String())
	}
	return list
})

// noteID returns the number of a note's name, 0 if it has none.
func noteID(name string) uint64 { return indexIn(calledNotes[:], name) }

// textID returns the number of a note's text, 0 if it has none.
func textID(text string) uint64 { return indexIn(noteTexts(), text) }

// indexIn returns the index of x in list, whose first element is none; 0: it is not there.
func indexIn(list []string, x string) uint64 {
	for i := 1; i < len(list); i++ {
		if list[i] == x {
			return uint64(i)
		}
	}
	return 0
}

// noteNames returns what InternedData says of these names and texts.
var noteNames = sync.OnceValue(func() (b []byte) {
	for i, name := range calledNotes[1:] {
		b = interned(b, internedNotes, uint64(i)+1, name)
	}
	for i, text := range noteTexts()[1:] {
		b = interned(b, internedTexts, uint64(i)+1, text)
	}
	return b
})

// notes is the notes behind that of the instructions, of notesBytes: of a verdict, and of how a call ended.
type notes [maxNotes / 8]uint64

// notesBytes is how long they are, bytes.
const notesBytes = 14

// callNotes is the notes for each verdict and each way to end.
type callNotes [decoder.Ambiguous + 1][calls.AtEnd + 1]notes

// newCallNotes returns notes.
func newCallNotes() *callNotes {
	var n callNotes
	var w writer
	s := w.begin(firstTask)
	for v := range n {
		for i := range n[v] {
			verdict, ended := textNote("verdict", decoder.Verdict(v).String()), textNote("ended", calls.Way(i).String())
			var b [maxNotes]byte
			copy(b[:notesBytes], w.annotate(w.annotate(nil, s, &verdict), s, &ended))
			n[v][i] = notes{binary.LittleEndian.Uint64(b[:]), binary.LittleEndian.Uint64(b[8:])}
		}
	}
	return &n
}
