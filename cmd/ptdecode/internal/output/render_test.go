package output

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/rows"
)

// someRows returns rows of branches and gaps, enough for many chunks and a rest.
func someRows(n int) (list []rows.Row) {
	r := rand.New(rand.NewPCG(3, 4))
	st := &rows.Stream{Name: "cpu1", CPU: 1}
	for range n {
		x := rows.Row{Kind: rows.KindBranch, Stream: st, IP: r.Uint64(), Addr: r.Uint64(), HasAddr: true, Poke: -1, Time: event.Time{Lo: r.Uint64N(1e12)}}
		if r.IntN(50) == 0 {
			g := event.Gap{Reason: event.Lost, Off: int64(r.IntN(1000)), Time: event.Always}
			x = rows.Row{Kind: rows.KindGap, Stream: st, Poke: -1, Note: &decoder.Note{Gap: g}}
		}
		list = append(list, x)
	}
	return list
}

// TestRenderer would catch lines that come in another order, twice, or not at
// all, where several goroutines write them. One encoder is the slow twin. Rows
// are lent: each is overwritten when it was taken.
func TestRenderer(t *testing.T) {
	fields := []Field{Time, CPU, IP, Addr}
	for _, n := range []int{0, 1, chunkRows - 1, chunkRows, 20*chunkRows + 7} {
		var want []byte
		list := someRows(n)
		one := newText(nil, fields, &Look{})
		for i := range list {
			want = one.row(want, &list[i])
		}
		var got bytes.Buffer
		r := newRenderer(&got, []coder{{newText(nil, fields, &Look{}), nil}, {newText(nil, fields, &Look{}), nil}, {newText(nil, fields, &Look{}), nil}})
		for i := range list {
			x := list[i]
			if x.Note != nil {
				note := *x.Note
				x.Note = &note
			}
			if err := r.row(&x); err != nil {
				t.Fatal(err)
			}
			if x.Note != nil {
				*x.Note = decoder.Note{}
			}
			x = rows.Row{}
		}
		if err := r.finish(); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%d rows: %d bytes differ from the %d of one encoder", n, got.Len(), len(want))
		}
	}
}

// full fails once it holds more than left bytes.
type full struct{ left int }

var errFull = errors.New("full")

func (f *full) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

// TestRendererFails would catch an error of writing that is lost, and one that
// leaves goroutines waiting for each other.
func TestRendererFails(t *testing.T) {
	list := someRows(40 * chunkRows)
	r := newRenderer(&full{left: 100_000}, []coder{{newText(nil, []Field{IP}, &Look{}), nil}, {newText(nil, []Field{IP}, &Look{}), nil}})
	var err error
	for i := range list {
		if err = r.row(&list[i]); err != nil {
			break
		}
	}
	if !errors.Is(err, errFull) {
		t.Errorf("row returned %v, want %v", err, errFull)
	}
	if err := r.finish(); !errors.Is(err, errFull) {
		t.Errorf("finish returned %v, want %v", err, errFull)
	}
}
