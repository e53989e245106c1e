package host

import (
	"fmt"
	"io"
	"os"
)

// maxText is the most bytes that a file of settings or of expected differences may have.
const maxText = 16 << 20

// ReadText returns what a small file of text holds. An error is that of the operating system,
// or says that the file is too large: it may be a device that never ends.
func ReadText(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxText+1))
	if err == nil && len(text) > maxText {
		err = fmt.Errorf("%s: more than %d MiB, which is too large for a file of text", path, maxText>>20)
	}
	return text, err
}
