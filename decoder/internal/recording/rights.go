package recording

import (
	"errors"
	"io/fs"
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
