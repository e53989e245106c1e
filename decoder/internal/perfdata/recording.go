package perfdata

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ptdecode/ptdecode/decoder/badfile"
	"github.com/ptdecode/ptdecode/decoder/files"
)

// Recording is an open perf.data. It may be used by several goroutines at
// once, each with Readers of its own, until Close.
type Recording struct {
	name     string
	tree     files.Tree // that holds the files
	srcs     []*source  // the files, then what was inflated from them
	held     *resident
	parts    []part
	header   Header
	attrs    []*Attr
	events   *events
	counts   map[Type]uint64
	runs     []run    // in file order
	byTime   []uint32 // indices in runs, by first key
	streams  []Stream
	auxInfo  *AuxInfo
	timeConv *TimeConv
	idIndex  []IDEntry
	idQueue  map[uint64]int // event id to index in idIndex
	buildIDs []BuildID
	simple   Simpleperf
	kcores   []KcoreDir
	formats  map[uint64]*Format // by ID, of tracepoints
	hints    Hints
	errs     []*badfile.Error
	moreErrs int
	idRoom   int // how many more event ids the files can hold
	stepped  map[steppedAt]bool
	traced   map[int32]tracedIn // by CPU
}

// part is a stretch of a file that holds records.
type part struct {
	src        int
	start, end int64
	chunks     []chunk // the COMPRESSED records in it
	inflated   int     // index of the source their contents became
	cut        bool    // not all that it should hold is there or can be read
}

// KcoreDir is a copy of a kernel's text beside the trace; a file that is not
// there has an empty path (tools/perf/util/data.c and builtin-record.c,
// record__kcore_copy, v6.1).
type KcoreDir struct {
	Name     string // "kcore_dir" for the host, "kcore_dir__<pid>" for a guest; "kcore_late"
	Guest    bool
	Late     bool // of after the recording: ptdecode record made it
	PID      int  // of the guest's hypervisor, 0 for the host
	Kcore    string
	Kallsyms string
	Modules  string
}

// Open opens a perf.data file or directory of fsys, nil: of the operating system. Trouble that leaves something to
// read is told by Trouble and Hints, not by the error.
func Open(fsys fs.FS, path string) (*Recording, error) {
	tree := files.Tree{FS: fsys}
	st, err := tree.Stat(path)
	if err != nil {
		return nil, err
	}
	if st.IsDir() {
		path = inside(tree, path)
		if st, err = tree.Stat(path); err != nil {
			return nil, err
		}
	}
	r := &Recording{name: path, tree: tree}
	switch {
	case st.IsDir():
		err = r.openDir(path)
	case filepath.Base(path) == mainFile && isPart(tree, filepath.Dir(path)):
		err = r.openDir(filepath.Dir(path))
	case !st.Mode().IsRegular():
		f, err := tree.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return openPipe(f, path)
	default:
		err = r.openFile(path, path)
	}
	if err == nil {
		err = r.load()
	}
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// mainFile is the name of the file of a perf.data directory that the others belong to.
const mainFile = "data"

// inside returns the recording that a directory stands for: itself, or the perf.data in
// it where it is none.
func inside(tree files.Tree, dir string) string {
	if _, err := tree.Stat(filepath.Join(dir, mainFile)); err == nil {
		return dir
	}
	if p := filepath.Join(dir, "perf.data"); exists(tree, p) {
		return p
	}
	return dir
}

// isPart reports whether a file named data in dir is part of a perf.data directory:
// whether others of it lie there.
func isPart(tree files.Tree, dir string) bool {
	return exists(tree, filepath.Join(dir, "kcore_dir")) || exists(tree, filepath.Join(dir, "data.0"))
}

// exists reports whether something lies at path.
func exists(tree files.Tree, path string) bool {
	_, err := tree.Stat(path)
	return err == nil
}

// Stdin is what errors call a recording that has no path.
const Stdin = "stdin"

// OpenPipe reads a perf.data in its pipe form (perf record -o -), or in its
// file form, from rd to its end. A reader that fails midway leaves what came
// before it, and a finding in Trouble. What does not begin as a perf.data is refused
// before the rest is read.
func OpenPipe(rd io.Reader) (*Recording, error) {
	return openPipe(rd, Stdin)
}

func openPipe(rd io.Reader, name string) (*Recording, error) {
	in := bufio.NewReader(rd)
	if head, err := in.Peek(len(magic2)); err == nil && differing(head, []byte(magic2)) > maxWrongMagic {
		return nil, checkMagic(name, head) // what is no recording may have no end
	}
	r := &Recording{name: name}
	var sp spool
	if _, err := io.Copy(&sp, in); err != nil {
		var pe *fs.PathError
		if sp.n == 0 || (errors.As(err, &pe) && pe.Op == "write") {
			sp.drop()
			return nil, &badfile.Error{File: name, Off: sp.n, What: "reading the pipe", Err: err}
		}
		r.trouble(name, sp.n, "reading the pipe: %v", err)
	}
	src, err := sp.source(name)
	if err != nil {
		return nil, err
	}
	r.srcs = []*source{src}
	if err := r.load(); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// Close frees the files. Records and stream bytes are invalid after it.
func (r *Recording) Close() error {
	var errs []error
	for _, s := range r.srcs {
		errs = append(errs, s.close())
	}
	r.srcs = nil
	return errors.Join(errs...)
}

func (r *Recording) openFile(path, name string) error {
	src, err := openSource(r.tree, path, name)
	if err != nil {
		return err
	}
	r.srcs = append(r.srcs, src)
	return nil
}

// openDir opens DIR/data, DIR/data.N in the order of their numbers, and notes
// the kernel copies.
func (r *Recording) openDir(dir string) error {
	entries, err := r.tree.ReadDir(dir)
	if err != nil {
		return err
	}
	main := filepath.Join(dir, mainFile)
	if _, err := r.tree.Stat(main); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			if _, e := r.tree.Stat(filepath.Join(dir, "bundle.json")); e == nil {
				return fmt.Errorf("%s: an unpacked bundle: name the file that it was unpacked from", dir)
			}
			err = errors.New("record one with perf record --kcore, or name the directory of a snapshot, in which snapshot.ini lies")
		}
		return fmt.Errorf("%s: a directory without a file named data: not a perf.data directory: %w", dir, err)
	}
	if err := r.openFile(main, main); err != nil {
		return err
	}
	var more []string
	for _, e := range entries {
		n := e.Name()
		switch {
		case strings.HasPrefix(n, "data.") && !e.IsDir():
			more = append(more, n)
		case n == "kcore_dir" || n == lateDir || strings.HasPrefix(n, "kcore_dir__"):
			r.kcores = append(r.kcores, r.kcoreDir(dir, n))
		}
	}
	slices.SortFunc(more, func(a, b string) int {
		x, errX := strconv.Atoi(a[len("data."):])
		y, errY := strconv.Atoi(b[len("data."):])
		if errX == nil && errY == nil && x != y {
			return x - y
		}
		return strings.Compare(a, b)
	})
	for _, n := range more {
		p := filepath.Join(dir, n)
		if err := r.openFile(p, p); err != nil {
			r.trouble(p, 0, "records of one thread of perf record cannot be read: %v", err)
			r.hints.CutShort, r.hints.Incomplete = true, true // nothing is complete
		}
	}
	return nil
}

// lateDir is where ptdecode record puts its copies of after.
const lateDir = "kcore_late"

func (r *Recording) kcoreDir(dir, name string) KcoreDir {
	k := KcoreDir{Name: name, Late: name == lateDir}
	if pid, ok := strings.CutPrefix(name, "kcore_dir__"); ok {
		k.Guest = true
		k.PID, _ = strconv.Atoi(pid)
	}
	there := func(n string) string {
		p := filepath.Join(dir, name, n)
		if _, err := r.tree.Stat(p); errors.Is(err, fs.ErrNotExist) {
			return ""
		}
		return p
	}
	k.Kcore, k.Kallsyms, k.Modules = there("kcore"), there("kallsyms"), there("modules")
	return k
}

// load reads everything but the records' bodies.
func (r *Recording) load() error {
	r.held = &resident{r: r}
	r.counts = map[Type]uint64{}
	r.idQueue = map[uint64]int{}
	for _, s := range r.srcs {
		r.idRoom += len(s.data) / 8
	}
	first := r.srcs[0]
	h, err := r.readHeader(first)
	if err != nil {
		return err
	}
	r.header.Pipe = h.pipe
	cut, lost := r.hints.CutShort, 0
	for _, f := range h.features {
		if _, whole := f.in(first.data); !whole {
			lost++
		}
		r.readFeature(first, f)
	}
	cut = cut || lost > 1 || lost == len(h.features) && lost > 0 // one of several is a wrong number
	end := h.data.off + h.data.size
	if h.data.beyond(first) {
		end = uint64(len(first.data))
	}
	initMap(r, h, first)
	r.parts = append(r.parts, part{src: 0, start: int64(h.data.off), end: int64(end), cut: cut || r.hints.Interrupted})
	for i, s := range r.srcs[1:] {
		r.parts = append(r.parts, part{src: i + 1, end: int64(len(s.data))})
	}
	for i := range r.parts {
		r.prescan(&r.parts[i])
	}
	for i := range r.parts {
		if err := r.inflate(&r.parts[i]); err != nil {
			return err
		}
	}
	r.events = newEvents(r.attrs)
	r.scan()
	return nil
}

// initMap takes the records that simpleperf keeps in a feature, INIT_MAP: what programs
// had mapped before. They come before all others.
func initMap(r *Recording, h *fileHeader, src *source) {
	for _, f := range h.features {
		if f.bit == FeatureInitMap && f.off <= uint64(len(src.data)) {
			r.parts = append(r.parts, part{src: 0, start: int64(f.off), end: int64(f.off + min(f.size, uint64(len(src.data))-f.off))})
		}
	}
}

// maxTrouble is how many findings are kept; the rest are counted.
const maxTrouble = 200

func (r *Recording) trouble(file string, off int64, format string, args ...any) {
	if len(r.errs) >= maxTrouble {
		r.moreErrs++
		return
	}
	r.errs = append(r.errs, &badfile.Error{File: file, Off: off, What: fmt.Sprintf(format, args...)})
}

// Trouble returns what is wrong with the files and did not stop the reading,
// in the order found, and how many findings beyond those there were.
func (r *Recording) Trouble() (found []*badfile.Error, more int) { return r.errs, r.moreErrs }

// Name is the path as given to Open, Stdin for a pipe.
func (r *Recording) Name() string { return r.name }

// Header is what the header's features say.
func (r *Recording) Header() *Header { return &r.header }

// Attrs are the recording's events.
func (r *Recording) Attrs() []*Attr { return r.attrs }

// AuxInfo is the trace's configuration, nil if the recording has none.
func (r *Recording) AuxInfo() *AuxInfo { return r.auxInfo }

// TimeConv converts the trace's clock to perf's, nil if the recording does
// not say how (Intel PT's AuxInfo may).
func (r *Recording) TimeConv() *TimeConv { return r.timeConv }

// IDIndex says which CPU or thread each event id belongs to.
func (r *Recording) IDIndex() []IDEntry { return r.idIndex }

// BuildIDs are the build ids of the files that ran.
func (r *Recording) BuildIDs() []BuildID { return r.buildIDs }

// KcoreDirs are the kernel copies of a perf.data directory, the host's first.
func (r *Recording) KcoreDirs() []KcoreDir { return r.kcores }

// Counts are how many records of each type there are, as perf counts them:
// the contents of COMPRESSED records, and the COMPRESSED records.
func (r *Recording) Counts() map[Type]uint64 { return r.counts }

// Streams are the hardware trace's streams, ordered by Index.
func (r *Recording) Streams() []Stream { return r.streams }

// Hints is what is missing from the recording.
func (r *Recording) Hints() Hints { return r.hints }
