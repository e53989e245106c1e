package recording

import (
	"fmt"
	"io"

	"github.com/ptdecode/ptdecode/decoder/files"
	"github.com/ptdecode/ptdecode/decoder/internal/sideband"
	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// breakEvents gives the entries of the breakpoint exception's handler, without
// which a trap cannot be told from an interrupt where there are no symbols.
func breakEvents(syms *symbols.Table) []sideband.Record {
	var list []sideband.Record
	for _, n := range breakEntries() {
		if y, ok := syms.Find(n); ok && y.Module == "" {
			list = append(list, sideband.Record{Type: sideband.TypeBreakEntry, CPU: -1, Fields: sideband.Fields{
				Addr: sideband.Hex(y.Addr), Name: sideband.Str(n),
			}})
		}
	}
	return list
}

// WriteEvents writes the event stream of what c names: of the recording, then
// of the event file. It holds one event at a time. The warnings are what the
// recording lacks and records that cannot be read.
func WriteEvents(c Config, w io.Writer) ([]Warning, error) {
	out := sideband.NewWriter(w)
	f := newFacts(&c)
	err := f.read(&c, nil, func(e *sideband.Record, at place) error {
		f.note(e, at)
		return out.Write(e)
	})
	if err != nil {
		return f.Warnings, err
	}
	f.missing(&c)
	return f.Warnings, out.Flush()
}

// Lines reads a recording of which the event stream is all there is; name is for
// errors.
func Lines(in io.Reader, name string) (*Recording, error) {
	f := newFacts(&Config{})
	if err := readLines(in, name, f.take); err != nil {
		return nil, err
	}
	return f.recording(), nil
}

// place is where an event stands: a record or a line.
type place struct {
	File string
	Off  int64 // bytes
}

// String renders file+0xoff.
func (p place) String() string { return fmt.Sprintf("%s+0x%x", p.File, p.Off) }

// taker takes events in the order of the stream. The event itself is lent until it
// returns.
type taker func(*sideband.Record, place) error

// readEvents gives the events of a stream's file to take.
func readEvents(c *Config, take taker) error {
	in, err := files.Tree{FS: c.FS}.Open(c.Events)
	if err != nil {
		return err
	}
	defer in.Close()
	return readLines(in, c.Events, take)
}

// readLines gives the events of a stream called name to take.
func readLines(in io.Reader, name string, take taker) error {
	r := sideband.NewReader(in, name)
	for {
		e, err := r.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if e.Type == sideband.TypeStream {
			continue
		}
		if err := take(e, place{name, r.Offset()}); err != nil {
			return err
		}
	}
}
