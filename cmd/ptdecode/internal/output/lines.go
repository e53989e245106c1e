package output

import "io"

// lineBytes is how much is written at once, bytes.
const lineBytes = 256 << 10

// lines collects lines and writes many at once.
type lines struct {
	w   io.Writer
	buf []byte
}

// full writes what was collected if it is much.
func (l *lines) full() error {
	if len(l.buf) < lineBytes {
		return nil
	}
	return l.flush()
}

// flush writes what was collected.
func (l *lines) flush() error {
	if len(l.buf) == 0 {
		return nil
	}
	_, err := l.w.Write(l.buf)
	l.buf = l.buf[:0]
	return err
}

// Write collects p.
func (l *lines) Write(p []byte) (int, error) {
	l.buf = append(l.buf, p...)
	return len(p), l.full()
}
