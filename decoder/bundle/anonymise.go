package bundle

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/ptdecode/ptdecode/decoder/badfile"
	"github.com/ptdecode/ptdecode/decoder/files"
	"github.com/ptdecode/ptdecode/decoder/internal/bundle"
	"github.com/ptdecode/ptdecode/decoder/internal/bundled"
	"github.com/ptdecode/ptdecode/decoder/internal/perfdata"
	"github.com/ptdecode/ptdecode/decoder/internal/plural"
	"github.com/ptdecode/ptdecode/decoder/internal/sideband"
)

// anonymiser replaces the names in the files of a bundle, and theirs.
type anonymiser struct {
	*names
	call  *bundled.Call
	nodes []*bundle.Node
	tree  files.Tree        // of the nodes, by their old names
	given map[string]string // by path of the call: its new name
}

// anonymise replaces the names in call and nodes.
func anonymise(call *bundled.Call, nodes []*bundle.Node) error {
	a := &anonymiser{names: newNames(), call: call, nodes: nodes, given: map[string]string{}}
	a.tree = files.Tree{FS: bundle.NewTree(nil, nodes, 1<<40)}
	instead := map[string][]byte{}
	if err := a.recording(instead); err != nil {
		return err
	}
	for _, n := range nodes {
		data, err := a.contents(n)
		if err != nil {
			return err
		}
		if data != nil {
			instead[n.Path] = data
		}
	}
	a.rename()
	paths := make([]string, len(nodes))
	for i, n := range nodes {
		paths[i] = a.place(n)
	}
	for i, n := range nodes {
		if data, ok := instead[n.Path]; ok {
			n.Replace(data)
		}
		n.Path = paths[i]
	}
	for i := range call.Filters {
		call.Filters[i].File = a.path(call.Filters[i].File)
	}
	call.EachPath(func(_ string, path *string) { *path = a.given[filepath.Clean(*path)] })
	return nil
}

// rename gives the paths of the call new names, by what they are for.
func (a *anonymiser) rename() {
	count := map[string]int{}
	a.call.EachPath(func(role string, path *string) {
		old := filepath.Clean(*path)
		if a.given[old] != "" {
			return
		}
		if count[role]++; count[role] > 1 {
			role = fmt.Sprintf("%s%d", role, count[role])
		}
		a.given[old] = role
	})
}

// place returns the new path of a node.
func (a *anonymiser) place(n *bundle.Node) string {
	best := ""
	for old := range a.given {
		if len(old) > len(best) && within(n.Path, old) {
			best = old
		}
	}
	if best == "" {
		return a.path(n.Path)
	}
	rest := strings.TrimPrefix(n.Path, best)
	switch role := a.given[best]; {
	case rest == "":
		return role
	case strings.HasPrefix(role, "symfs"):
		return role + "/" + strings.TrimPrefix(a.path("/"+strings.TrimPrefix(rest, "/")), "/")
	case strings.HasPrefix(role, "buildid"), structural(rest):
		return role + "/" + strings.TrimPrefix(rest, "/")
	default:
		return role + a.path(rest)
	}
}

// within reports whether path is dir or lies in it.
func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// structural reports whether a name within a recording says what the file is: the files
// of a perf.data directory, and a snapshot's ini files.
func structural(rest string) bool {
	for part := range strings.SplitSeq(strings.Trim(rest, "/"), "/") {
		switch {
		case strings.HasPrefix(part, "kcore_"), strings.HasPrefix(part, "data"), strings.EqualFold(filepath.Ext(part), ".ini"):
		case part == "perf.data", part == "kcore", part == "kallsyms", part == "modules":
		default:
			return false
		}
	}
	return true
}

// recording replaces the names in a perf.data.
func (a *anonymiser) recording(instead map[string][]byte) error {
	path := a.call.Recording
	if path == "" || a.snapshot() {
		return nil
	}
	r, err := perfdata.Open(a.tree.FS, path)
	if err != nil {
		return err
	}
	defer r.Close()
	if n := r.Hints().Mended; n > 0 {
		return &badfile.Error{File: path, What: fmt.Sprintf("%s damaged, and names may stand in %s: it cannot be anonymised", plural.Count(n, "record")+plural.Word(n, " is", " are"), plural.Word(n, "it", "them"))}
	}
	for name, data := range r.Rewrite(&perfdata.Edit{Path: a.path, Name: a.name}) {
		instead[filepath.Clean(name)] = data
	}
	return nil
}

// snapshot reports whether the recording is a snapshot.
func (a *anonymiser) snapshot() bool {
	return slices.ContainsFunc(a.nodes, func(n *bundle.Node) bool { return a.ini(n) })
}

// ini reports whether a node is an ini file of a snapshot.
func (a *anonymiser) ini(n *bundle.Node) bool {
	return a.call.Recording != "" && !n.Dir && within(n.Path, filepath.Clean(a.call.Recording)) && strings.EqualFold(filepath.Ext(n.Path), ".ini")
}

// contents returns a node's new bytes; nil if they stay.
func (a *anonymiser) contents(n *bundle.Node) ([]byte, error) {
	if n.Dir || n.Fault != "" {
		return nil, nil
	}
	switch {
	case a.ini(n):
		b, err := a.tree.Read(n.Path)
		return a.withoutComments(b, n), err
	case n.Path == filepath.Clean(a.call.Events) && a.call.Events != "":
		return a.events(n)
	case n.Path == filepath.Clean(a.call.Kallsyms), filepath.Base(n.Path) == "kallsyms":
		if n.Held != nil {
			return nil, nil
		}
		b, err := a.tree.Read(n.Path)
		return bpfSymbol().ReplaceAllFunc(b, func(s []byte) []byte { return []byte(a.bpf(string(s))) }), err
	}
	return nil, nil
}

// bpfSymbol is the symbol of a BPF program that has a name.
var bpfSymbol = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\bbpf_prog_[0-9a-f]{16}_[^\s]+`) })

// What an ini file says for people.
var (
	iniComment     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)[;#].*$`) })
	iniDescription = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?mi)^(\s*description\s*=).*$`) })
)

// withoutComments returns an ini file without what it says for people, and with the new
// names of the snapshot's files.
func (a *anonymiser) withoutComments(b []byte, ini *bundle.Node) []byte {
	b = iniComment().ReplaceAll(b, nil)
	b = iniDescription().ReplaceAll(b, []byte("$1"))
	dir := filepath.Clean(a.call.Recording)
	for _, n := range a.nodes {
		rest := strings.Trim(strings.TrimPrefix(n.Path, dir), "/")
		if n.Dir || !within(n.Path, dir) || structural(rest) {
			continue
		}
		for _, sep := range []string{"/", `\`} {
			old, now := strings.ReplaceAll(rest, "/", sep), strings.ReplaceAll(a.path(rest), "/", sep)
			name := regexp.MustCompile(`(^|[\s=,;"'])(\.[/\\])?` + regexp.QuoteMeta(old) + `($|[\s,;"'])`)
			for range 2 { // neighbours share what stands between them
				b = name.ReplaceAll(b, []byte("${1}${2}"+now+"${3}"))
			}
		}
	}
	return b
}

// events replaces the names in an event stream.
func (a *anonymiser) events(n *bundle.Node) ([]byte, error) {
	in, err := a.tree.Open(n.Path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	r := sideband.NewReader(in, n.Path)
	var out bytes.Buffer
	w := sideband.NewWriter(&out)
	for {
		e, err := r.Read()
		if err == io.EOF {
			err = w.Flush()
			return out.Bytes(), err
		}
		if err != nil {
			return nil, err
		}
		if e.Type == sideband.TypeStream {
			continue
		}
		a.event(e)
		if err := w.Write(e); err != nil {
			return nil, err
		}
	}
}

// event replaces the names in an event.
func (a *anonymiser) event(e *sideband.Record) {
	e.Comm = sideband.Str(a.name(string(e.Comm)))
	e.File = sideband.Str(a.path(string(e.File)))
	e.Path = sideband.Str(a.path(string(e.Path)))
	if e.Type == sideband.TypeKsymbol {
		e.Name = sideband.Str(a.bpf(string(e.Name)))
	}
	e.Filter = sideband.Str(filterPath().ReplaceAllStringFunc(string(e.Filter), func(s string) string { return "@" + a.path(s[1:]) }))
	e.Raw = nil
	for _, key := range []string{"host", "command"} {
		if v, ok := e.Meta[key]; ok {
			e.Meta[key] = sideband.Str(a.name(string(v)))
		}
	}
}

// filterPath is a path in an address filter.
var filterPath = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`@/[^\s,]+`) })
