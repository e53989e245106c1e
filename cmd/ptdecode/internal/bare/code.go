package bare

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/files"
)

// Code reads FILE[@ADDR]; ADDR is hexadecimal, with or without 0x. What
// follows the last @ is an address only if it reads as one, so a file's name
// may hold an @. Only an ELF file can do without an address.
func Code(s string) (decoder.CodeFile, error) {
	if s == "" {
		return decoder.CodeFile{}, errors.New("text source: empty; want FILE or FILE@ADDR")
	}
	i := strings.LastIndexByte(s, '@')
	if i < 0 {
		return decoder.CodeFile{Path: s}, placed(s)
	}
	digits := strings.TrimPrefix(strings.TrimPrefix(s[i+1:], "0x"), "0X")
	addr, err := strconv.ParseUint(digits, 16, 64)
	switch {
	case err == nil && i == 0:
		return decoder.CodeFile{}, fmt.Errorf("text source %q: no file before the @", s)
	case err == nil:
		return decoder.CodeFile{Path: s[:i], Addr: addr}, nil
	case errors.Is(err, strconv.ErrRange) || digits == "":
		return decoder.CodeFile{}, fmt.Errorf("text source %q: the address is not 1 to 16 hexadecimal digits", s)
	}
	return decoder.CodeFile{Path: s}, nil
}

// placed returns an error if the file is not known to say itself at which addresses its code lies, as an
// ELF file does. A file that cannot be read, or is empty, is the decoder's to tell of.
func placed(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	magic := make([]byte, len(elf.ELFMAG))
	if n, _ := io.ReadFull(f, magic); n == 0 || string(magic) == elf.ELFMAG || files.Packing(magic[:n]) != "" {
		return nil
	}
	return fmt.Errorf("%s is no ELF file: at which address do its bytes lie? Write %s@ADDR, hexadecimal", path, path)
}
