// Package simrec makes recordings of what simulated machines trace. Only tests import it.
package simrec

import (
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/recording"
	"github.com/ptdecode/ptdecode/decoder/internal/sim"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
)

// Recording is what the simulated machine gives a decoder, with the code of image.
func Recording(r *sim.Run, image []sim.Piece) *recording.Recording {
	f := recording.New(&recording.Config{})
	f.Meta.PT = r.PTConfig()
	f.Pokes, _ = r.Records()
	f.Breaks = r.Breaks()
	for _, l := range r.Losses {
		f.Lost = append(f.Lost, event.Time{Lo: l.From, Hi: l.Time})
	}
	for _, p := range image {
		f.Code = append(f.Code, recording.Code{Addr: p.Addr, Bytes: p.Bytes})
	}
	for _, w := range r.Switches {
		f.Processes.Tasks.Ran(int32(w.CPU), w.Told, w.TID, w.TID)
	}
	f.Processes.Tasks.Seal()
	for i := range r.CPUs {
		c := &r.CPUs[i]
		if r.Config.Timing >= sim.A64Coarse {
			f.Streams = append(f.Streams, &stream.Stream{
				Protocol: stream.ForUnit(c.Source.Protocol), CPU: int32(i), TID: -1, Size: int64(len(c.Trace)), Data: stream.Memory(c.Trace), Unit: c.Source,
			})
			continue
		}
		b := c.PT
		f.WrittenBy[int32(i)] = c.Stop
		f.Streams = append(f.Streams, &stream.Stream{
			Protocol: stream.IntelPT, CPU: int32(i), TID: -1, Size: int64(len(b)), Data: stream.Memory(b),
		})
	}
	return f
}
