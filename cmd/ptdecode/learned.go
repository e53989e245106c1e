package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/report"
	"github.com/ptdecode/ptdecode/kcore"
)

// learned decodes the flow and prints what was learned of the code.
func (a *app) learned(c *cobra.Command, o *pokesFlags, p *pokeFilter, s *decoder.Session, w io.Writer) error {
	printed, all, unlike := 0, 0, ""
	err := report.Learned(c.Context(), s, decoder.Query{Jobs: a.open.jobs, Progress: a.ui.progress}, func(l *kcore.Learned, sym, line string) (err error) {
		if l == nil {
			if unlike = line; o.asJSON {
				_, err = io.WriteString(w, `{"type":"unlike"}`+"\n")
			}
			return err
		}
		if all++; !p.wants(s, l.Addr, len(l.Code), event.Always, sym) || o.enough(printed) {
			return nil
		}
		printed++
		if o.asJSON {
			_, err = w.Write(l.AppendJSON(nil, sym))
		} else {
			_, err = io.WriteString(w, line+"\n")
		}
		return err
	})
	a.ui.done()
	if unlike != "" {
		a.ui.say("%s", unlike)
	}
	switch {
	case err != nil || printed > 0 || unlike != "":
	case all > 0:
		a.ui.say("nothing that was learned passes %s: there are %d", pokeFilters(c), all)
	case a.open.noLearn:
		a.ui.say("nothing was learned of the code: --no-learn takes it as it is given")
	default:
		a.ui.say("nothing was learned of the code: the trace nowhere contradicts it, or does not show which other code ran")
	}
	return err
}
