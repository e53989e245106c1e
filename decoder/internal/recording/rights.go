package recording

import (
	"errors"
	"io/fs"

	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// lookDirs warns of directories that the call names for the files of programs, and
// that cannot be looked into.
func lookDirs(f *facts, c *Config) {
	const hint = "name a directory that may be read; without it code of programs is unknown, and flow through it shows as gaps"
	for _, d := range append([]string{c.SymFS}, c.BuildIDs...) {
		if d == "" {
			continue
		}
		if _, err := f.tree.ReadDir(d); err != nil {
			var pe *fs.PathError
			if errors.As(err, &pe) {
				err = pe.Err
			}
			f.Warnf(hint, "%s+0x0: files of programs: cannot be looked for: %v", d, err)
		}
	}
}

// What to do about files of the kernel that cannot be read.
const (
	hintNoKcore = "give another with --kcore FILE; without it flow through the kernel shows as gaps"

	// HintNoSymbols is for kallsyms and modules.
	HintNoSymbols = "give a copy of /proc/kallsyms with --kallsyms FILE; without it code has no names and some changes no kind"
)

// WithoutKcore returns err, which reading the kernel's code at path gave, unless the
// rest works without it. So it is where the file lies beside the recording. It is so too
// where the call names it, as given, and it may not be read. Then a
// warning says so.
func (r *Recording) WithoutKcore(err error, path, given string) error {
	left, err := without(r, err, path, given, hintNoKcore)
	if left {
		r.Warnings[len(r.Warnings)-1].NoText = true
	}
	return err
}

// WithoutSymbols is WithoutKcore for symbols. A file whose addresses are hidden is as
// good as none, and told of.
func (r *Recording) WithoutSymbols(err error, path, given string) error {
	if errors.Is(err, symbols.ErrRestricted) {
		r.HiddenSymbols(err)
		return nil
	}
	_, err = without(r, err, path, given, HintNoSymbols)
	return err
}

// without reports whether a file is left out, and returns err if it is not.
func without(r *Recording, err error, path, given, hint string) (bool, error) {
	if err == nil {
		return false, nil
	}
	if given != "" && !errors.Is(err, fs.ErrPermission) {
		return false, err
	}
	if errors.Is(err, fs.ErrPermission) {
		hint = "make it readable (sudo chmod a+r, or copy it as root), or " + hint
	}
	r.Warnf(hint, "%s+0x0: cannot be read, and is left out: %v", path, err)
	return true, nil
}
