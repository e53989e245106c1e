package step

import (
	"fmt"
	"path/filepath"
)

// source says which line of the source addr was made of, and what the line says.
func (c *cursor) source(space uint32, addr, time uint64) (at, says string) {
	frames := c.of.Lines(space, addr, time)
	if len(frames) == 0 || frames[0].File == "" {
		return "", ""
	}
	f := &frames[0]
	return fmt.Sprintf("%s:%d", f.File, f.Line), c.files.Line(f.File, f.Line)
}

// beside returns the last part of a FILE:LINE, which stands beside code.
func beside(at string) string { return filepath.Base(at) }
