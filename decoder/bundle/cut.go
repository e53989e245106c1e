package bundle

import (
	"fmt"
	"io"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/files"
	"github.com/ptdecode/ptdecode/decoder/internal/perfdata"
	"github.com/ptdecode/ptdecode/decoder/internal/plural"
	"github.com/ptdecode/ptdecode/decoder/internal/recording"
)

// cutTrace has only the trace of a time read from now on.
func (b *Bundle) cutTrace(o *Options) error {
	c := b.from
	c.FS = b.watch
	s, err := decoder.Open(decoder.Config(c))
	if err != nil {
		return err
	}
	defer s.Close()
	parts := map[*decoder.Stream]event.Segment{}
	some := false
	for _, st := range s.Streams() {
		part, any := partOf(st, o)
		some = some || any
		if st.Protocol != decoder.IntelPT || !st.Timed() || st.Size > 0 && st.Time().Lo == 0 {
			b.Kept = append(b.Kept, fmt.Sprintf("--time: all trace of %s is kept: only Intel PT with timestamps is cut", st.Name))
			continue
		}
		parts[st] = part
	}
	if !some && len(s.Streams()) > 0 {
		until := "the end"
		if o.Until != 0 {
			until = event.Seconds(o.Until)
		}
		return &decoder.CallError{What: fmt.Sprintf("--time: there is no trace from %s to %s", event.Seconds(o.From), until)}
	}
	return b.keepOnly(c, parts)
}

// partOf returns the stretch of a stream that is kept: the segments of the time that is
// wanted, and one to either side, which settle what happens at its ends. any reports
// whether there are such.
func partOf(st *decoder.Stream, o *Options) (part event.Segment, any bool) {
	var before event.Segment
	for g := range st.Segments() {
		if g.Time.Hi < o.From && g.Time.Hi != 0 {
			before = g
			continue
		}
		if o.Until != 0 && g.Time.Lo > o.Until {
			if any {
				part.End = g.End
			}
			break
		}
		if !any {
			if part = g; before.End == g.Off && before.End > before.Off {
				part.Off = before.Off
			}
		}
		part.End, any = g.End, true
	}
	return part, any
}

// keepOnly has the files of trace hold only the given parts of the streams.
func (b *Bundle) keepOnly(c recording.Config, parts map[*decoder.Stream]event.Segment) error {
	raw := map[string]bool{}
	for st, part := range parts {
		for _, r := range c.Raw {
			if st.File != r.Path || st.CPU != r.CPU {
				continue
			}
			data, err := readPart(files.Tree{FS: c.FS}, r.Path, part)
			if err != nil {
				return err
			}
			b.watch.Instead(r.Path, data)
			raw[r.Path] = true
			delete(parts, st)
		}
	}
	if len(parts) == 0 {
		return nil
	}
	r, err := perfdata.Open(c.FS, c.Recording)
	if err != nil {
		return err
	}
	defer r.Close()
	if n := r.Hints().Mended; n > 0 {
		b.Kept = append(b.Kept, fmt.Sprintf("--time: all trace of %s is kept: %s damaged", c.Recording, plural.Count(n, "record")+plural.Word(n, " is", " are")))
		return nil
	}
	cut := map[int]perfdata.AuxRange{}
	list := r.Streams()
	for st, part := range parts {
		for i := range list {
			p := &list[i]
			if p.CPU != st.CPU || p.TID != st.TID {
				continue
			}
			if p.Snapshot || p.Sampled {
				b.Kept = append(b.Kept, fmt.Sprintf("--time: all trace of %s is kept: snapshots are not cut", st.Name))
				continue
			}
			cut[p.Index] = perfdata.AuxRange{From: p.AuxOff(part.Off), To: p.AuxOff(part.End)}
		}
	}
	for name, data := range r.Rewrite(&perfdata.Edit{Cut: cut}) {
		b.watch.Instead(name, data)
	}
	return nil
}

// readPart returns a part of a file of bare trace.
func readPart(tree files.Tree, path string, part event.Segment) ([]byte, error) {
	f, err := tree.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data := make([]byte, part.End-part.Off)
	if _, err := f.ReadAt(data, part.Off); err != nil && err != io.EOF {
		return nil, err
	}
	return data, nil
}
