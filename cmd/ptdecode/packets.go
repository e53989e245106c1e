package main

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ptdecode/ptdecode/cmd/internal/filter"
	"github.com/ptdecode/ptdecode/cmd/internal/plural"
	"github.com/ptdecode/ptdecode/cmd/ptdecode/internal/output"
	"github.com/ptdecode/ptdecode/decoder"
)

// newPacketsCmd is the verb that prints packets.
func newPacketsCmd(a *app) *cobra.Command {
	var o packetsFlags
	c := withObjects(&cobra.Command{
		Use:   "packets REC",
		Short: "print packets with their offsets",
		Long: `Print the packets of each CPU's trace with their offsets: a line
"CPU OFFSET PACKET", the offset 16 hex digits. For CoreSight the trace ID replaces
the CPU, and offsets count the bytes of that source. No code is needed.

Bytes that are no packet are a line in their place; reading goes on at the next
sync point, and the exit code is 3. Bytes before the first sync point are a line
"# N bytes" and no error: a buffer that wrapped around begins anywhere.`,
		Example: `  ptdecode packets perf.data --cpu 1 | grep -c TIP
  ptdecode packets --pt cpu0.pt --raw | head
  ptdecode packets snapshot/ --id 10,13 --raw   # sources with these trace IDs
  ptdecode packets perf.data -o jsonl | jq 'select(.kind == "OVF")'`,
	}, func(c *cobra.Command, asJSON bool, args []string) error { return a.packets(c, &o, asJSON, args) })
	f := c.Flags()
	o.filter.Add(f, filter.All[:4]...)
	f.BoolVar(&o.raw, "raw", false, "also the bytes of the packets, hex")
	return c
}

// packetsFlags are the flags of packets.
type packetsFlags struct {
	filter filter.Flags
	raw    bool
}

// packets prints the packets of the streams asked for.
func (a *app) packets(c *cobra.Command, o *packetsFlags, asJSON bool, args []string) error {
	damage := func(w *decoder.Warning) bool { return w.Damage }
	return a.traced(args, damage, &o.filter, func(s *decoder.Session, only *filter.Filter) error {
		return a.packetsOf(c.Context(), s, only.Streams, o.raw, asJSON)
	})
}

// packetsOf prints the packets of streams of s; nil: of all.
func (a *app) packetsOf(ctx context.Context, s *decoder.Session, streams []int, raw, asJSON bool) error {
	a.ui.silent(s, streams)
	p := output.NewPackets(a.out)
	p.JSON, p.Raw = asJSON, raw
	names := outputStreams(s)
	for i, st := range s.Streams() {
		if st.Guest != 0 || streams != nil && !slices.Contains(streams, i) {
			continue
		}
		if err := p.Stream(ctx, &names[i], st.Head, st.EachPacket); err != nil {
			return err
		}
	}
	if err := p.Close(); err != nil {
		return err
	}
	if p.Bad == 0 {
		return a.whole(s, 0)
	}
	a.ui.say("%s of trace without packets", plural.Count(p.Bad, "range"))
	return a.gapCode()
}
