package marks

import (
	"encoding/hex"
	"fmt"

	"github.com/ptdecode/ptdecode/cmd/internal/filter"
	"github.com/ptdecode/ptdecode/cmd/internal/story"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/kcore"
)

// Wanted says which changes are wanted, as flags of pokes do.
type Wanted struct {
	Kind string // "": all
	TID  int32  // of the thread that made them; 0: of any
	Sym  string // the function, or a glob; "": in any

	From, Until uint64 // when they were made, as Mark.Time; Until 0: at any time
}

// Kinds returns the names of all kinds of changes.
func Kinds() (list []string) {
	for k := kcore.KindUnknown; k.String() != "?"; k++ {
		list = append(list, k.String())
	}
	return list
}

// Pick returns those of a list that are wanted.
func (w *Wanted) Pick(list []Mark) []Mark {
	out := []Mark{}
	for i := range list {
		m := &list[i]
		made := w.Until == 0 || m.Time >= w.From && m.Time <= w.Until
		if made && (w.Kind == "" || m.Kind == w.Kind) && (w.TID == 0 || m.TID == w.TID) && (w.Sym == "" || filter.Fits(w.Sym, m.Function())) {
			out = append(out, *m)
		}
	}
	return out
}

// Args returns the arguments by which pokes prints what is wanted.
func (w *Wanted) Args() []string {
	args := []string{"--no-flow"}
	if w.Kind != "" {
		args = append(args, "--kind", w.Kind)
	}
	if w.TID != 0 {
		args = append(args, "--tid", fmt.Sprint(w.TID))
	}
	if w.Sym != "" {
		args = append(args, "--sym", w.Sym)
	}
	return args
}

// Row is a change in a list, with the code that it replaced and that it wrote.
type Row struct {
	Mark
	Old string `json:"old"` // bytes and instructions; "": none
	New string `json:"new"`
}

// Rows makes rows of a few changes of a machine.
func Rows(s *decoder.Session, list []Mark, clean func(string) string) []Row {
	at := map[int]int{}
	rows := make([]Row, len(list))
	for i := range list {
		rows[i].Mark = list[i]
		at[list[i].Index] = i
	}
	for k := range s.Pokes() {
		if i, ok := at[k.Index]; ok {
			rows[i].Old, rows[i].New = clean(side(s, &k, k.Old, 0)), clean(side(s, &k, k.New, 1))
		}
	}
	return rows
}

// mostBytes is how much of a side of a change is given.
const mostBytes = 16

// side renders a side of a change: text is its old code, and since is 0, or its new code, and
// since is 1.
func side(s *decoder.Session, k *decoder.PokeInfo, text []byte, since event.Epoch) string {
	if n := len(text); n > mostBytes {
		return fmt.Sprintf("%d bytes: %s ...", n, hex.EncodeToString(text[:mostBytes]))
	}
	if len(text) == 0 {
		return ""
	}
	return hex.EncodeToString(text) + " (" + story.SideAsm(s, k, text, since) + ")"
}
