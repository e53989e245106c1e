package repair

import (
	"bytes"
	"cmp"
	"io/fs"
	"math"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/perfdata"
	"github.com/ptdecode/ptdecode/kcore"
	"github.com/ptdecode/ptdecode/kcore/image"
)

// Watch follows the changes of a recording in which records were damaged; nil: none
// was. A CPU's records are in order, so a change was made between those beside its own.
type Watch struct {
	made []event.Time     // by index of the change, ns
	last map[int32]uint64 // by CPU: time of its newest record, ns
	open map[int32][]int  // by CPU: the changes behind that

	guessed []perfdata.GuessedPoke
}

// NewWatch returns what follows the changes of r.
func NewWatch(r *perfdata.Recording) *Watch {
	if r.Hints().Mended == 0 {
		return nil
	}
	return &Watch{last: map[int32]uint64{}, open: map[int32][]int{}, guessed: r.Hints().Guessed}
}

// Record takes the next record; i is how many changes there were before it.
func (m *Watch) Record(rec *perfdata.Record, i int) {
	if m == nil || !rec.HasTime() {
		return
	}
	for _, k := range m.open[rec.CPU] {
		m.made[k].Hi = max(m.made[k].Lo, rec.Time)
	}
	m.open[rec.CPU] = m.open[rec.CPU][:0]
	if rec.Type == perfdata.TypeTextPoke {
		for len(m.made) <= i {
			m.made = append(m.made, event.Time{})
		}
		m.made[i] = event.Time{Lo: m.last[rec.CPU], Hi: math.MaxUint64}
		m.open[rec.CPU] = append(m.open[rec.CPU], i)
	}
	m.last[rec.CPU] = rec.Time
}

// Repair corrects the changes by each other and by a copy of the code, and returns what
// stays in doubt.
func (m *Watch) Repair(pokes []kcore.Poke, fsys fs.FS, kcores ...string) Doubts {
	if m == nil {
		return Doubts{}
	}
	var list []Mended
	for _, g := range m.guessed {
		list = append(list, Mended{Addr: g.Addr, Time: g.Time, Made: event.Time{Lo: g.From, Hi: g.To}})
	}
	var read func(b []byte, addr uint64) int
	var find func(b []byte) []uint64
	if path := cmp.Or(kcores...); path != "" {
		if img, err := image.Open(path, image.Options{FS: fsys}); err == nil {
			defer img.Close()
			read, find = img.ReadAt, func(b []byte) []uint64 { return findIn(img, b) }
		}
	}
	return Pokes(pokes, list, m.made, read, find)
}

// mostFound is how many places findIn returns at most.
const mostFound = 8

// findIn returns addresses at which img holds b, the lowest ones.
func findIn(img *image.Image, b []byte) (addrs []uint64) {
	buf := make([]byte, 1<<16)
	for _, n := range img.Ranges() {
		for off := uint64(0); off < n.Len; off += uint64(len(buf) - len(b)) {
			part := buf[:img.ReadAt(buf[:min(uint64(len(buf)), n.Len-off)], n.Addr+off)]
			for at := 0; ; at++ {
				i := bytes.Index(part[at:], b)
				if i < 0 {
					break
				}
				at += i
				if addrs = append(addrs, n.Addr+off+uint64(at)); len(addrs) == mostFound {
					return addrs
				}
			}
		}
	}
	return addrs
}
