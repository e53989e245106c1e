// Package items takes decoded flow apart into single items, for the page of the verb view:
// an instruction is an item, and so is a note. An item has a Key by which the page asks for
// it again, whatever is decoded around it.
//
// Walk finds items around a place in one stream. It prints nothing; package rows is for
// lists of the whole flow.
//
// Start reading in this file.
package items

import (
	"fmt"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// Key names an item of a stream: the offset of the trace event that led to it, bytes,
// and its number among those of that offset. Notes count by themselves.
type Key struct {
	note bool
	Off  int64 // bytes
	n    int
}

// String renders k: i or n, the offset, and the number.
func (k Key) String() string { return fmt.Sprintf("%c%d.%d", "in"[pick(k.note)], k.Off, k.n) }

func pick(b bool) int {
	if b {
		return 1
	}
	return 0
}

// ParseKey is the inverse of String.
func ParseKey(s string) (k Key, err error) {
	var c rune
	if _, err = fmt.Sscanf(s, "%c%d.%d", &c, &k.Off, &k.n); err != nil || c != 'i' && c != 'n' || k.Off < 0 || k.n < 0 {
		return k, fmt.Errorf("%q is not a place as steps gives it", s)
	}
	k.note = c == 'n'
	return k, nil
}

// Item is an instruction as executed, or a note.
type Item struct {
	Key     Key
	Time    event.Time
	Block   *decoder.Block // of an instruction
	Insn    int            // of Block
	Addr    uint64
	Verdict decoder.Verdict
	Either  bool          // several versions of the code fit, and do the same
	Note    *decoder.Note // a copy; nil: an instruction
}

// Walk finds items around an anchor in one stream: a decoder.Sink.
type Walk struct {
	Anchor        func(*Item) bool // reports whether an item is the anchor, or lies behind it
	Before, After int              // how many items are wanted before the anchor, and from it on
	Each          func(*Item) bool // takes the items, until it returns false; nil: they are collected

	Found bool
	List  []Item // from the anchor on

	ring         []Item // the last ones before the anchor
	head         int    // of the oldest one in ring, once that is full
	last         uint64 // ns: the time before
	key, noteKey Key    // of the last item
}

// Restart begins anew (decoder.Restarter).
func (w *Walk) Restart() bool {
	w.Found, w.ring, w.head, w.List, w.last = false, w.ring[:0], 0, w.List[:0], 0
	w.key, w.noteKey = Key{Off: -1}, Key{Off: -1, note: true}
	return true
}

// Flow takes the items of b.
func (w *Walk) Flow(b *decoder.Batch) error {
	n := 0
	for i := 0; i <= len(b.Ranges); i++ {
		for ; n < len(b.Notes) && b.Notes[n].At <= i; n++ {
			note := b.Notes[n]
			it := Item{Note: &note, Time: note.Event.Time, Addr: note.IP, Verdict: note.Verdict, Key: numbered(&w.noteKey, note.Event.Off)}
			if note.Kind == decoder.NoteGap {
				it.Time, it.Addr = note.Gap.Time, note.Gap.IP
				it.Key = numbered(&w.noteKey, note.Gap.Off)
				it.Time.Lo = max(it.Time.Lo, w.last) // no record may tell when trace was lost
			}
			if !w.take(&it) {
				return decoder.ErrStop
			}
		}
		if i == len(b.Ranges) {
			break
		}
		r := &b.Ranges[i]
		s := &b.Stamps[r.Stamp]
		w.last = s.Time.Lo
		it := Item{Time: s.Time, Block: r.Block, Addr: r.Block.Addr, Verdict: r.Verdict, Either: r.Either()}
		for it.Insn = range int(r.N) {
			it.Key = numbered(&w.key, s.Off)
			if !w.take(&it) {
				return decoder.ErrStop
			}
			it.Addr += uint64(r.Block.Lens[it.Insn])
		}
	}
	return nil
}

// numbered counts the next item of an offset.
func numbered(k *Key, off int64) Key {
	if k.Off == off {
		k.n++
	} else {
		k.Off, k.n = off, 0
	}
	return *k
}

// take takes an item. It returns false where no more is wanted.
func (w *Walk) take(it *Item) bool {
	if w.Each != nil {
		return w.Each(it)
	}
	if !w.Found && w.Anchor(it) {
		w.Found = true
	}
	switch {
	case w.Found:
		w.List = append(w.List, *it)
	case w.Before == 0:
	case len(w.ring) < w.Before:
		w.ring = append(w.ring, *it)
	default:
		w.ring[w.head] = *it
		w.head = (w.head + 1) % w.Before
	}
	return len(w.List) < w.After
}

// Had returns how many items before the anchor there are by now.
func (w *Walk) Had() int { return len(w.ring) }

// Items returns what was found, in order, and how many lie before the anchor.
func (w *Walk) Items() (list []Item, before int) {
	list = append(list, w.ring[w.head:]...)
	list = append(list, w.ring[:w.head]...)
	return append(list, w.List...), len(w.ring)
}

// Called reports whether an item was called: the instruction before it is a call.
func Called(before, it *Item) bool {
	if it.Note != nil || before == nil || before.Insn != int(before.Block.N)-1 {
		return false
	}
	switch before.Block.Class {
	case isa.Call, isa.CallInd:
		return it.Addr != before.Block.End
	}
	return false
}
