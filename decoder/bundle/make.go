package bundle

import (
	"context"
	"encoding/json"
	"io"
	"path/filepath"
	"slices"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/files"
	"github.com/ptdecode/ptdecode/decoder/internal/bundle"
	"github.com/ptdecode/ptdecode/decoder/internal/bundled"
	"github.com/ptdecode/ptdecode/decoder/internal/recording"
)

// Options say what a bundle is made of.
type Options struct {
	From, Until uint64 // ns: only the trace of this time; 0: from the start, to the end
	Anonymise   bool   // names of programs, hosts, paths and command lines are replaced
	// DebugInfo is how many bytes of debug information go in, which tells source lines; 0:
	// 256 MiB, < 0: none. With Anonymise none goes in, as it has paths.
	DebugInfo int64
	Jobs      int // workers; 0: one for each CPU of this machine
	// Progress is called now and then with the bytes of trace decoded and the total.
	Progress func(done, total int64)
}

// Bundle is a bundle that was made and is not written yet.
type Bundle struct {
	// Kept says what of the trace could not be cut to the time asked for, one line for
	// each stream.
	Kept []string
	// Lacks says what of the recording's debug information is left out.
	Lacks []string

	from  recording.Config
	watch *bundle.Watch
	tree  *bundle.Tree
}

// Make makes a bundle of what c names. It decodes all of it, so as to know which code
// and which symbols it needs.
func Make(ctx context.Context, c decoder.Config, o Options) (*Bundle, error) {
	from := recording.Config(c)
	from.Stdin = nil
	if from.Recording == "-" {
		return nil, &decoder.CallError{What: "a bundle is made of files: save standard input to one, and name it"}
	}
	if st, err := (files.Tree{FS: from.FS}).Stat(from.Recording); err == nil && !st.IsDir() && !st.Mode().IsRegular() {
		return nil, &decoder.CallError{What: "a bundle is made of files: save what " + from.Recording + " gives to one, and name it"} // it is read twice
	}
	if len(from.Guests) > 0 {
		return nil, &decoder.CallError{What: "a bundle does not hold what guests recorded: bundle each guest's recording by itself"}
	}
	if slices.ContainsFunc(from.Raw, func(r decoder.RawTrace) bool { return r.Unit != nil }) {
		return nil, &decoder.CallError{What: "a bundle does not hold bare CoreSight trace: give it as a snapshot, and bundle that"}
	}
	if err := bundled.Unpack(&from); err != nil {
		return nil, err
	}
	outer := files.Tree{FS: from.FS}
	b := &Bundle{from: from, watch: bundle.NewWatch(outer, func(path string) bool {
		return slices.ContainsFunc(from.Raw, func(r decoder.RawTrace) bool { return filepath.Clean(r.Path) == path })
	})}
	if err := b.gather(ctx, &o); err != nil {
		b.Close()
		return nil, err
	}
	return b, nil
}

// gather fills the bundle.
func (b *Bundle) gather(ctx context.Context, o *Options) error {
	if o.From != 0 || o.Until != 0 {
		if err := b.cutTrace(o); err != nil {
			return err
		}
	}
	c := b.from
	c.FS = b.watch
	if err := b.visit(ctx, c, o); err != nil {
		return err
	}
	nodes, err := b.watch.Nodes()
	if err != nil {
		return err
	}
	b.boundLines(nodes, o)
	call := bundled.CallOf(&b.from)
	if o.Anonymise {
		if err := anonymise(call, nodes); err != nil {
			return err
		}
	}
	text, err := json.Marshal(call)
	if err != nil {
		return err
	}
	b.tree = bundle.NewTree(text, nodes, 1<<40)
	return nil
}

// Config returns what opens the bundle as it will be written, before it is.
func (b *Bundle) Config() (decoder.Config, error) {
	c := recording.Config{Memory: b.from.Memory}
	err := bundled.FromTree(&c, b.tree)
	return decoder.Config(c), err
}

// Bytes returns how many bytes the bundle unpacks to.
func (b *Bundle) Bytes() int64 { return b.tree.Bytes() }

// Write writes the bundle to w. info is what it says of itself, for people; may be empty.
func (b *Bundle) Write(w io.Writer, info []byte) error {
	b.tree.Info = info
	return b.tree.Write(w)
}

// Close closes the files that the bundle is made of.
func (b *Bundle) Close() error { return b.watch.Close() }
