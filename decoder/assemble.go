package decoder

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/files"
	"github.com/ptdecode/ptdecode/decoder/internal/boot"
	"github.com/ptdecode/ptdecode/decoder/internal/bundled"
	"github.com/ptdecode/ptdecode/decoder/internal/held"
	"github.com/ptdecode/ptdecode/decoder/internal/plural"
	"github.com/ptdecode/ptdecode/decoder/internal/recording"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
	"github.com/ptdecode/ptdecode/kcore"
	"github.com/ptdecode/ptdecode/kcore/image"
	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// Open opens what c names. A file that cannot be opened gives the error of package fs
// that says so. One that does not hold what it should gives a *badfile.Error, with the
// place. A c that does not fit the recording gives a *CallError. An error also says so
// where c names nothing. What can be left out is one of Session.Warnings instead.
func Open(c Config) (*Session, error) {
	from := recording.Config(c)
	rec, err := bundled.Read(&from)
	if err != nil {
		return nil, err
	}
	return OpenRecording(rec, Config(from)) // which is another where c names a bundle
}

// OpenRecording opens a recording that was read, or made, before. c says what else
// is read, such as the image, and how. The session closes rec. Only packages below
// decoder can make a recording: tests do, of what a simulated machine did.
func OpenRecording(rec *recording.Recording, c Config) (*Session, error) {
	s := &Session{cfg: c, rec: rec}
	err := s.assemble()
	if err == nil {
		err = openGuests(s)
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// assemble makes the session of its recording.
func (s *Session) assemble() (err error) {
	f := s.rec
	namer{s}.programs(f.Processes.Spaces)
	f.Processes.Seal()
	namer{s}.tellDumps(f.Processes.Spaces)
	if s.complete = f.CompleteTo; s.complete != math.MaxUint64 && !f.Converts {
		s.complete = 0 // the trace's clock is another than the records'
	}
	if s.from.journal, err = kcore.NewJournalOf(f.Pokes, kcore.JournalOptions{Lost: f.Lost, Slack: s.cfg.ClockError}); err != nil {
		return err
	}
	s.rec.Untimed(s.from.journal.Len())
	slices.SortStableFunc(f.Streams, func(a, b *stream.Stream) int {
		return cmp.Or(cmp.Compare(a.CPU, b.CPU), cmp.Compare(a.CoreSight().ID, b.CoreSight().ID))
	})
	for i, st := range f.Streams {
		st.Index = i
		st.Configure(stream.AskedFor(f.Meta.PT))
		if st.Name = fmt.Sprintf("cpu%d", st.CPU); st.CPU < 0 {
			st.Name = fmt.Sprintf("tid%d", st.TID)
			if st.TID < 0 {
				st.Name = "id" + st.ID
			}
		}
		st.Begin(f.Written(st), held.SegmentShare(memoryOf(&s.cfg), len(f.Streams)))
	}
	s.streams = f.Streams
	if err = s.loadText(); err != nil {
		return err
	}
	s.kernel = s.rec.KernelFrom(s.symbols)
	s.finish()
	if s.boot != nil {
		s.learnBoot()
	}
	return learner{s}.takeLearned()
}

// takeLearned lays what was learned before over the code.
func (s learner) takeLearned() error {
	if s.cfg.Learned == "" {
		return nil
	}
	data, err := files.Tree{FS: s.cfg.FS}.Read(s.cfg.Learned)
	if err != nil {
		return err
	}
	s.from.given.Plain = s.code.Load().text.Text
	unlike := false
	if s.from.given.List, unlike, err = s.rec.ReadLearned(data, s.cfg.Learned, s.from.given.Plain); err != nil {
		return err
	}
	c, err := s.withLearned(nil)
	if err == nil {
		c.caches, c.rough, s.learned.done = s.newCaches(), unlike, unlike
		s.code.Store(c)
	}
	return err
}

// textFiles returns where text and symbols are read from: what the call names,
// else what lies beside the recording.
func textFiles(c *Config, beside recording.TextFiles) recording.TextFiles {
	pick := func(call, own string) string {
		if call != "" {
			return call
		}
		return own
	}
	return recording.TextFiles{
		Kcore:    pick(c.Kcore, beside.Kcore),
		Kallsyms: pick(c.Kallsyms, beside.Kallsyms),
		Modules:  pick(c.Modules, beside.Modules),
	}
}

// loadSymbols reads the symbols.
func (s *Session) loadSymbols(from recording.TextFiles) (syms *symbols.Kallsyms, mods []symbols.Module, err error) {
	if from.Kallsyms != "" {
		if syms, err = s.rec.OpenKallsyms(from.Kallsyms); err != nil {
			syms = nil
		}
		if err := s.rec.WithoutSymbols(err, from.Kallsyms, s.cfg.Kallsyms); err != nil {
			return nil, nil, err
		}
		if syms != nil {
			s.rec.OtherBoot(syms, from.Kallsyms)
		}
	} else if from.Kcore != "" && s.rec.Beside.Kcore != "" {
		s.rec.Warnings = append(s.rec.Warnings, Warning{What: s.rec.Name + "+0x0: kallsyms: 0 files beside the recording: the kernel's code has no names", Hint: recording.HintNoSymbols})
	}
	if from.Modules != "" {
		mods, err = s.rec.OpenModules(from.Modules)
		if err := s.rec.WithoutSymbols(err, from.Modules, s.cfg.Modules); err != nil {
			return nil, nil, err
		}
	}
	if s.cfg.Modules == "" {
		mods = s.rec.AddModules(mods)
	}
	if syms != nil || len(mods) > 0 || len(s.rec.Ksymbols) > 0 {
		s.symbols = symbols.New(syms, mods, symbols.Ksymbols(s.rec.Ksymbols))
	}
	return syms, mods, nil
}

// loadImage reads the images: the kernel's, what the call adds to it, and what
// the recording itself holds.
func (s *Session) loadImage(from recording.TextFiles, opt image.Options) (*image.Image, error) {
	img := &image.Image{}
	s.rec.CloseWith(img)
	add := func(path string, addr uint64) error {
		opt.Addr = addr
		m, err := image.Open(path, opt)
		if err != nil {
			return err
		}
		if err := m.Short(); err != nil {
			s.rec.Damagedf(hintShortImage, "%v", err)
		}
		img.Add(m)
		return nil
	}
	if from.Kcore != "" {
		var err error
		switch s.boot, err = boot.Open(from.Kcore, s.bootSource(opt.Kallsyms)); {
		case errors.Is(err, boot.ErrPlace): // code that never ran may not lie there
			s.rec.Warnf(hintNoPlace, "%v; it is left out", err)
			s.rec.Warnings[len(s.rec.Warnings)-1].NoText, err = true, nil
		case err != nil:
		case s.boot != nil:
			err = img.AddBytes(s.boot.Text())
		default:
			opt.NeedELF = true
			err = add(from.Kcore, 0)
			opt.NeedELF = false
		}
		if err != nil {
			s.boot = nil
		}
		if err := s.rec.WithoutKcore(err, from.Kcore, s.cfg.Kcore); err != nil {
			return nil, err
		}
	}
	for _, t := range s.cfg.Code {
		if err := add(t.Path, t.Addr); errors.Is(err, fs.ErrNotExist) && t.Addr == 0 && strings.Contains(t.Path, "@") {
			return nil, fmt.Errorf("%w; behind @ is no address of 1 to 16 hexadecimal digits", err)
		} else if err != nil {
			return nil, err
		}
	}
	if s.rec.Dumps != nil {
		img.Add(s.rec.Dumps)
	}
	for _, t := range s.rec.Code {
		if err := img.AddBytes(t.Addr, t.Bytes); err != nil {
			return nil, err
		}
	}
	return img, nil
}

// tellLosses says when records were lost and what of the poked text is unknown
// for it.
func (s *Session) tellLosses(t *kcore.Text) {
	const told = 5
	ls := t.Losses()
	for i, l := range ls {
		if l.Sites == 0 && l.Hi == math.MaxUint64 {
			return // a file that is cut short, which is told, and there is no site to tell of
		}
		if i == told {
			s.rec.Warnf("", "%s: LOST: %s", s.rec.LostAt, plural.Count(len(ls)-told, "more such interval"))
			return
		}
		until := "the end"
		if l.Hi != math.MaxUint64 {
			until = event.Seconds(l.Hi)
		}
		what := fmt.Sprintf("%s: LOST: from %s to %s: the code is unknown at %d of the poked sites, at %d of them to the end of the recording",
			s.rec.LostAt, event.Seconds(l.Lo), until, l.Sites, l.Open)
		hint := "a change may be among what was lost, at other sites too"
		if l.Open > 0 {
			hint += "; a copy of /proc/kcore made after the recording shows their code: give it with --kcore FILE"
		}
		s.rec.Warnf(hint, "%s", what)
	}
}

// What to do about an image.
const (
	hintShortImage = "copy the file again; the text that it lacks is unknown, and flow through it shows as gaps"
	hintNoPlace    = "give a copy of that boot's /proc/kallsyms with --kallsyms FILE; without it flow through the kernel shows as gaps"
)

// loadText reads images and symbols and builds the text in time.
func (s *Session) loadText() error {
	c := &s.cfg
	from := textFiles(c, s.rec.Beside)
	syms, mods, err := s.loadSymbols(from)
	if err != nil {
		return err
	}
	img, err := s.loadImage(from, image.Options{Kallsyms: syms, Modules: mods, FS: s.cfg.FS})
	if err != nil {
		return err
	}
	opt := kcore.TextOptions{Symbols: s.symbols, Taken: s.rec.Taken, Late: s.rec.Late}
	late := lateFile(c, s.rec)
	if late != "" {
		early := img
		img, opt.Late, err = s.rec.BothImages(s.from.journal, img, late, image.Options{Kallsyms: syms, Modules: mods, NeedELF: true, FS: s.cfg.FS})
		if err != nil && c.Late != "" {
			return err
		}
		if err != nil {
			s.rec.WithoutLate(err, late)
			img, late = early, ""
		}
	}
	s.from.img, s.from.opt, s.from.holes, s.from.added = img, opt, from.Kcore != "", len(c.Code) > 0
	s.code.Store(&code{journal: s.from.journal, text: s.from.view(s.rec.Processes.Spaces, kcore.NewText(s.from.journal, img, opt))})
	s.Text().FillOld()
	if n, bytes := s.Text().Unlike(); n > 0 {
		s.rec.Warnings = append(s.rec.Warnings, Warning{What: fmt.Sprintf("%s+0x0: image: %s in %s that no record names %s other than in %s: unknown throughout", late, plural.Count(bytes, "byte"), plural.Count(n, "place"), plural.Word(bytes, "is", "are"), from.Kcore), Image: true})
	}
	why := s.Foreign()
	if why == "" && from.Kcore != "" {
		why = s.rec.Elsewhere(img)
	}
	s.rec.TellForeign(why, from.Kcore, codeNames(c.Code), c.Recording, s.Text().Placement().Held == 0)
	s.tellLosses(s.Text())
	s.files, s.late = from, late
	namer{s}.give(from.Kcore)
	return nil
}

// lateFile names the kernel's code of after the recording: what the call names, else what
// lies beside the recording, unless the call names one of before. "": there is none.
func lateFile(c *Config, rec *recording.Recording) string {
	if c.Late == "" && c.Kcore == "" {
		return rec.After.Kcore
	}
	return c.Late
}

// codeNames names files of code.
func codeNames(files []recording.CodeFile) string {
	var names []string
	for _, f := range files {
		names = append(names, f.String())
	}
	return strings.Join(names, " ")
}
