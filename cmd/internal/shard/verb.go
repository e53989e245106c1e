package shard

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ptdecode/ptdecode/decoder"
)

// A shard of a verb that does not write rows decodes its part, and writes the flow. Joining
// the parts is the same call once more, which takes the flow from them. So what it writes is
// what one process writes, whatever a verb makes of flow.

// flowKind is the Head.Kind of such parts. Its number is that of the form of what they hold.
const flowKind = "flow-1"

// Call is a call of a verb, as a part has it: in front of its flow stands a line of JSON.
type Call struct {
	Verb  string   `json:"verb"`
	Args  []string `json:"args"`
	Flags []string `json:"flags"` // --name=value, but for those that are a process's own
	Of    string   `json:"of"`    // a word for the recording's streams
}

// own reports whether a flag is a process's own: what comes out does not depend on it.
func own(name string) bool {
	return slices.Contains([]string{"shard", "shard-dir", "jobs", "memory", "quiet", "allow-gaps"}, name)
}

// newCall returns the call of c with args, of s.
func newCall(c *cobra.Command, s *decoder.Session, args []string) Call {
	return Call{Verb: c.Name(), Args: args, Flags: given(c.Flags()), Of: streamsOf(s)}
}

// given returns the flags of f that were given, and are not a process's own.
func given(f *pflag.FlagSet) (list []string) {
	f.Visit(func(f *pflag.Flag) {
		if own(f.Name) {
			return
		}
		values := []string{f.Value.String()}
		if v, ok := f.Value.(pflag.SliceValue); ok {
			values = v.GetSlice()
		}
		for _, v := range values {
			list = append(list, "--"+f.Name+"="+v)
		}
	})
	return list
}

// streamsOf returns a word that stands for the streams of s.
func streamsOf(s *decoder.Session) string {
	h := sha256.New()
	for _, st := range s.Streams() {
		fmt.Fprintln(h, st.Name, st.Size)
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:8])
}

// writeFlow writes the part that a call of c with args asks for of the flow that q asks for.
// It goes to standard output, or to the directory that the flags name. done is false without
// --shard: then there is nothing to do. gaps is how many gaps lie in the part.
func (f *Flags) writeFlow(c *cobra.Command, args []string, s *decoder.Session, q decoder.Query, as *Process) (done bool, gaps uint64, err error) {
	p, err := f.Begin(c, s, &q, flowKind, as.Out)
	if p == nil {
		return err != nil, 0, err
	}
	line, err := json.Marshal(newCall(c, s, args))
	if err == nil {
		_, err = p.Write(append(line, '\n'))
	}
	r, e := newRecorder(p, len(s.Streams()))
	if err = errors.Join(err, e); err == nil {
		err = as.Decode(c.Context(), s, q, r)
	}
	if err = p.Close(err); err == nil && r.contradicted {
		as.Contradicted()
	}
	return true, r.gaps, err
}

// Joined is the parts of one call, which are joined.
type Joined struct {
	call  Call
	parts []*opened
	flows []int64 // where their flow begins, bytes
	flow  *replayer
}

// maxCall is more than a Call takes, bytes.
const maxCall = 1 << 20

// newJoined reads what call parts are of.
func newJoined(parts []*opened) (*Joined, error) {
	j := &Joined{parts: parts}
	for i, p := range parts {
		var k Call
		d := json.NewDecoder(io.NewSectionReader(p.body, 0, maxCall))
		if err := d.Decode(&k); err != nil {
			return nil, fmt.Errorf("%s: %w", p.path, errFlow)
		}
		if i == 0 {
			j.call = k
		}
		j.flows = append(j.flows, d.InputOffset()+1)
	}
	return j, nil
}

// fits returns an error if the parts are not of s.
func (j *Joined) fits(s *decoder.Session) error {
	if j.call.Of != streamsOf(s) {
		return &decoder.CallError{What: fmt.Sprintf("%s: it is of another recording than %s; --recording names the one", j.parts[0].path, s.Name())}
	}
	return nil
}

// give gives sink the flow of the parts, one behind the other, until it has enough.
func (j *Joined) give(s *decoder.Session, sink decoder.Sink) error {
	if j.flow == nil {
		j.flow = newReplayer(s.Streams())
	}
	for i, p := range j.parts {
		err := j.flow.play(io.NewSectionReader(p.body, j.flows[i], p.body.Size()-j.flows[i]), sink)
		switch {
		case err == decoder.ErrStop:
			return nil
		case err == errFlow:
			return fmt.Errorf("%s: %w", p.path, err)
		case err != nil:
			return err
		}
	}
	return nil
}

// Rerun calls the verb again whose parts are joined, with args, as from a shell. It writes to
// w what goes to standard output.
type Rerun func(ctx context.Context, j *Joined, args []string, w io.Writer) error

// arguments returns the arguments that call the verb again, as from a shell. rec, if it is
// set, is where the recording lies; more are flags of the call that joins.
func (j *Joined) arguments(rec string, more []string) []string {
	k := &j.call
	args := append([]string{k.Verb}, k.Flags...)
	args = append(append(args, more...), "--")
	pos := slices.Clone(k.Args)
	switch {
	case rec == "":
	case len(pos) == 0:
		pos = []string{rec}
	default:
		pos[0] = rec
	}
	return append(args, pos...)
}
