package files

import (
	"io"
	"os"
)

// Mapped is a file's bytes in memory, read when they are first touched. They may be
// written to; the file stays as it is.
type Mapped []byte

// Map makes b the first size bytes of f. ok is false where that cannot be: f is no file of
// the operating system, or the system has no mappings.
func (b *Mapped) Map(f io.ReaderAt, size int64) (ok bool) {
	file, ok := f.(*os.File)
	if !ok || size <= 0 || int64(int(size)) != size {
		return false
	}
	*b, ok = mapFile(file, int(size))
	return ok
}

// Close gives the memory back.
func (b Mapped) Close() error { return unmap(b) }
