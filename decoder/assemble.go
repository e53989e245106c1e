package decoder

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/ptdecode/ptdecode/decoder/perfdata"
	"github.com/ptdecode/ptdecode/decoder/stream"
	"github.com/ptdecode/ptdecode/kcore"
	"github.com/ptdecode/ptdecode/pt"
)

// Open opens what c names.
func Open(c Config) (*Session, error) {
	s := &Session{cfg: c}
	f := newFacts(&s.cfg)
	if err := s.gather(f); err != nil {
		s.Close()
		return nil, err
	}
	if err := s.assemble(f); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// gather collects the facts from all sources.
func (s *Session) gather(f *facts) error {
	c := &s.cfg
	if (c.Buffer != "" || c.AllBuffers) && !isSnapshot(c.Recording) {
		return callf("--buffer and --all-buffers are for snapshots: a directory with a snapshot.ini")
	}
	if c.Recording == "" && len(c.PT) == 0 && c.Events == "" && c.Kcore == "" && len(c.Text) == 0 {
		return errors.New("nothing to open: name a recording or raw parts")
	}
	if c.Kallsyms != "" {
		f.early = startKallsyms(c.Kallsyms)
	}
	keep := func(r *perfdata.Recording) {
		s.closeWith(r)
		for _, d := range r.KcoreDirs() {
			if f.early == nil && !d.Guest && d.Kallsyms != "" {
				f.early = startKallsyms(d.Kallsyms)
			}
		}
	}
	if err := f.read(c, keep, f.take); err != nil {
		return err
	}
	f.placeBPF()
	f.coresight()
	f.configure()
	f.missing(c)
	if c.Model != "" {
		m, err := pt.ParseModel(c.Model)
		if err != nil {
			return err
		}
		f.pt.Model = m
	}
	if c.Filter != "" {
		f.meta.Filter = c.Filter
	}
	var err error
	if s.filters, err = parseFilters(f.meta.Filter); err != nil && c.Filter != "" {
		return err
	} else if err != nil {
		f.warnf(hintFilter, "%s+0x0: AUXTRACE_INFO: %v", f.name, err)
	}
	for _, r := range c.PT {
		if err := s.fromRaw(f, r); err != nil {
			return err
		}
	}
	return nil
}

// fromRaw adds a raw Intel PT file as a stream; it takes the place of the
// recording's stream of that CPU.
func (s *Session) fromRaw(f *facts, r RawPT) error {
	file, err := os.Open(r.Path)
	if err != nil {
		return err
	}
	s.closeWith(file)
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s: not a file: raw Intel PT is read where it is needed, not from a pipe", r.Path)
	}
	st := &stream.Stream{CPU: r.CPU, TID: -1, Size: info.Size(), File: r.Path, Data: stream.NewFile(file, info.Size())}
	for i, o := range f.streams {
		if o.CPU == r.CPU {
			st.Losses = o.Losses
			f.streams[i] = st
			f.warn = append(f.warn, Warning{What: fmt.Sprintf("%s: %d bytes, read instead of the %d of CPU %d in %s", r.Path, st.Size, o.Size, r.CPU, o.File)})
			return nil
		}
	}
	st.Losses = f.losses[r.CPU]
	f.streams = append(f.streams, st)
	f.otherTrace(st)
	return nil
}

// assemble makes the session of the facts.
func (s *Session) assemble(f *facts) error {
	f.tasks.seal()
	f.users.seal()
	s.tasks, s.users, s.meta = f.tasks, f.users, f.meta
	s.meta.PT = f.pt
	if s.complete = f.complete; s.complete != math.MaxUint64 && !f.converts() {
		s.complete = 0 // the trace's clock is another than the records'
	}
	j, err := kcore.NewJournalOf(f.pokes, kcore.JournalOptions{Lost: f.lost, Slack: s.cfg.ClockError})
	if err != nil {
		return err
	}
	s.journal = j
	f.untimed(j.Len())
	if err := s.loadText(f); err != nil {
		return err
	}
	slices.SortStableFunc(f.streams, func(a, b *stream.Stream) int {
		return cmp.Or(cmp.Compare(a.CPU, b.CPU), cmp.Compare(a.CS.ID, b.CS.ID))
	})
	for i, st := range f.streams {
		st.Index = i
		st.PT = f.pt
		if st.Name = fmt.Sprintf("cpu%d", st.CPU); st.CPU < 0 {
			st.Name = fmt.Sprintf("tid%d", st.TID)
			if st.TID < 0 {
				st.Name = "id" + st.ID
			}
		}
		st.Begin(f.endOf(st), segmentShare(s.memory(), len(f.streams)))
	}
	s.streams, s.buffers = f.streams, f.buffers
	s.kernel = f.kernelFrom(s.symbols)
	s.switches = f.switches
	s.onExec = f.auxInfo != nil && f.auxInfo.CS != nil && f.onExec[f.auxInfo.CS.PMUType]
	s.finish()
	for _, a := range f.breaks {
		if !slices.Contains(s.walk.Breaks, a) {
			s.walk.Breaks = append(s.walk.Breaks, a)
		}
	}
	return nil
}

// textFiles returns where text and symbols are read from: what the call names,
// else what lies beside the recording.
func textFiles(c *Config, beside kcoreFiles) kcoreFiles {
	pick := func(call, own string) string {
		if call != "" {
			return call
		}
		return own
	}
	return kcoreFiles{
		kcore:    pick(c.Kcore, beside.kcore),
		kallsyms: pick(c.Kallsyms, beside.kallsyms),
		modules:  pick(c.Modules, beside.modules),
	}
}

// earlyKallsyms is a kallsyms that is read while the records are.
type earlyKallsyms struct {
	path string
	done chan struct{}
	syms *kcore.Kallsyms
	err  error
}

// startKallsyms begins to read a kallsyms.
func startKallsyms(path string) *earlyKallsyms {
	e := &earlyKallsyms{path: path, done: make(chan struct{})}
	go func() {
		defer close(e.done)
		e.syms, e.err = kcore.OpenKallsyms(path)
	}()
	return e
}

// open returns the kallsyms at path, which e may have read already.
func (e *earlyKallsyms) open(path string) (*kcore.Kallsyms, error) {
	if e == nil || e.path != path {
		return kcore.OpenKallsyms(path)
	}
	<-e.done
	return e.syms, e.err
}

// loadSymbols reads the symbols. Files whose addresses are hidden are as good
// as none, and told of.
func (s *Session) loadSymbols(f *facts, files kcoreFiles) (syms *kcore.Kallsyms, mods []kcore.Module, err error) {
	if files.kallsyms != "" {
		if syms, err = f.early.open(files.kallsyms); errors.Is(err, kcore.ErrRestricted) {
			f.warnf(hintKallsyms, "%v", err)
			syms = nil
		} else if err != nil {
			return nil, nil, err
		}
		f.otherBoot(syms, files.kallsyms)
	}
	if files.modules != "" {
		if mods, err = kcore.OpenModules(files.modules); errors.Is(err, kcore.ErrRestricted) {
			f.warnf(hintKallsyms, "%v", err)
			mods = nil
		} else if err != nil {
			return nil, nil, err
		}
	}
	if syms != nil || len(mods) > 0 || len(f.ksyms) > 0 {
		s.symbols = kcore.NewSymbols(syms, mods, kcore.Ksymbols(f.ksyms))
	}
	return syms, mods, nil
}

// loadImage reads the images: the kernel's, what the call adds to it, and what
// the recording itself holds.
func (s *Session) loadImage(f *facts, files kcoreFiles, opt kcore.ImageOptions) (*kcore.Image, error) {
	img := &kcore.Image{}
	s.closeWith(img)
	add := func(path string, addr uint64) error {
		opt.Addr = addr
		m, err := kcore.OpenImage(path, opt)
		if err != nil {
			return err
		}
		if err := m.Short(); err != nil {
			f.damaged(hintShortImage, "%v", err)
		}
		img.Add(m)
		return nil
	}
	if files.kcore != "" {
		opt.NeedELF = true
		if err := add(files.kcore, 0); err != nil {
			return nil, err
		}
		opt.NeedELF = false
	}
	for _, t := range s.cfg.Text {
		a, err := kcore.ParseTextArg(t)
		if err != nil {
			return nil, err
		}
		if err := add(a.Path, a.Addr); errors.Is(err, fs.ErrNotExist) && a.Path == t && strings.Contains(t, "@") {
			return nil, fmt.Errorf("%w; behind @ is no address of 1 to 16 hexadecimal digits", err)
		} else if err != nil {
			return nil, err
		}
	}
	for _, t := range f.code {
		if err := img.AddBytes(t.addr, t.data); err != nil {
			return nil, err
		}
	}
	return img, nil
}

// tellLosses says when records were lost and what of the poked text is unknown
// for it.
func (f *facts) tellLosses(t *kcore.Text) {
	const told = 5
	ls := t.Losses()
	for i, l := range ls {
		if i == told {
			f.warnf("", "%s: LOST: %d more such intervals", f.lostAt, len(ls)-told)
			return
		}
		until := "the end"
		if l.Hi != math.MaxUint64 {
			until = seconds(l.Hi)
		}
		what := fmt.Sprintf("%s: LOST: from %s to %s: %d poked sites unknown meanwhile, %d of them for the rest of the recording",
			f.lostAt, seconds(l.Lo), until, l.Sites, l.Open)
		hint := "a change may be among what was lost, at other sites too"
		if l.Open > 0 {
			hint += "; a copy of /proc/kcore made after the recording shows what lies there: give it with --kcore FILE"
		}
		f.warnf(hint, "%s", what)
	}
}

// bothImages reads the other kernel image and returns the two in the order in
// which they were taken, as the pokes that each shows tell; as given, if they
// do not tell.
func (s *Session) bothImages(f *facts, img *kcore.Image, opt kcore.ImageOptions) (early, late *kcore.Image, err error) {
	late, err = kcore.OpenImage(s.cfg.Late, opt)
	if err != nil {
		return nil, nil, err
	}
	s.closeWith(late)
	a := kcore.NewText(s.journal, img, kcore.TextOptions{}).Placement()
	b := kcore.NewText(s.journal, late, kcore.TextOptions{}).Placement()
	if b.Epoch < a.Epoch && b.Held > 0 && !b.Foreign() {
		img, late, b = late, img, a
	}
	if int(b.Hi) < s.journal.Len() || b.Foreign() {
		f.warnf("give one copy of /proc/kcore of before the recording and one of after it, of the same boot",
			"%s+0x0: image: fits epochs %d to %d of %d, need the last: it says nothing of what came last", s.cfg.Late, b.Lo, b.Hi, s.journal.Len())
		return img, nil, nil
	}
	return img, late, nil
}

// loadText reads images and symbols and builds the text in time.
func (s *Session) loadText(f *facts) error {
	c := &s.cfg
	files := textFiles(c, f.dir)
	syms, mods, err := s.loadSymbols(f, files)
	if err != nil {
		return err
	}
	img, err := s.loadImage(f, files, kcore.ImageOptions{Kallsyms: syms, Modules: mods})
	if err != nil {
		return err
	}
	opt := kcore.TextOptions{Symbols: s.symbols, Taken: f.taken, Late: f.late}
	if c.Late != "" {
		if img, opt.Late, err = s.bothImages(f, img, kcore.ImageOptions{Kallsyms: syms, Modules: mods, NeedELF: true}); err != nil {
			return err
		}
	}
	s.text = textView{kcore.NewText(s.journal, img, opt), s.users}
	if n, bytes := s.Text().Unlike(); n > 0 {
		f.warn = append(f.warn, Warning{What: fmt.Sprintf("%s+0x0: image: %d bytes in %d places that no record names are other than in %s: unknown throughout", c.Late, bytes, n, files.kcore), Image: true})
	}
	why := s.foreign()
	if why == "" && files.kcore != "" {
		why = f.elsewhere(img)
	}
	if why != "" {
		name := files.kcore
		if name == "" {
			name = strings.Join(c.Text, " ")
		}
		hint, is := hintForeign, "it is of another boot or another kernel"
		if name == "" && s.meta.Kind == KindSnapshot {
			name, hint, is = c.Recording, hintDumped, "its memory and the events are not of one run"
		}
		f.warnf(hint, "%s+0x0: image: %s: %s", name, why, is)
		f.warn[len(f.warn)-1].Image = true
	}
	f.tellLosses(s.Text())
	s.warnings, s.files = f.warn, files
	return nil
}
