package decoder

import (
	"bufio"
	"bytes"
	"debug/elf"
	"fmt"
	"os/exec"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// addr2line asks binutils for the places in the source that addresses of a file were made
// of, the innermost first. It skips where addr2line is missing.
func addr2line(t *testing.T, file string, addrs []uint64) map[uint64][]symbols.Frame {
	t.Helper()
	if _, err := exec.LookPath("addr2line"); err != nil {
		t.Skip("addr2line is not here: names and lines are not compared")
	}
	var in strings.Builder
	for _, a := range addrs {
		fmt.Fprintf(&in, "%x\n", a)
	}
	c := exec.Command("addr2line", "-a", "-f", "-i", "-e", file)
	c.Stdin = strings.NewReader(in.String())
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	list := map[uint64][]symbols.Frame{}
	var at uint64
	for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
		if hex, ok := strings.CutPrefix(s.Text(), "0x"); ok {
			at, _ = strconv.ParseUint(hex, 16, 64)
			list[at] = nil
			continue
		}
		name := s.Text()
		s.Scan()
		list[at] = append(list[at], symbols.Frame{Sym: name, File: s.Text()})
	}
	return list
}

// discriminator is what addr2line says besides the line.
var discriminator = regexp.MustCompile(` \(discriminator \d+\)$`)

// placesOf renders what is known of an address, one place behind the other.
func placesOf(s *Session, addr uint64) string {
	var list []string
	for _, f := range s.Lines(0, addr, 0) {
		if f.Sym == "" {
			f.Sym, _, _, _ = s.Symbol(0, addr, 0)
		}
		if f.Line == 0 || f.File == "" {
			f.File, f.Line = "??", 0
		}
		list = append(list, fmt.Sprintf("%s %s:%d", orUnknown(f.Sym), f.File, f.Line))
	}
	if list == nil {
		sym, _, _, _ := s.Symbol(0, addr, 0)
		list = append(list, orUnknown(sym)+" ??:0")
	}
	return strings.Join(list, "\n")
}

func orUnknown(s string) string {
	if s == "" {
		return "??"
	}
	return s
}

// explained are differences to addr2line that have a reason.
type explained struct {
	padding int // behind the end of a function: addr2line gives the name of the one before
	parts   int // a part of a function: DWARF has the function's name, .symtab the part's
}

// compareLines compares what is known of addresses with addr2line. It returns how many
// differ without a reason.
func compareLines(t *testing.T, file string, addrs []uint64, why *explained) (differ int) {
	s := opened(t, Config{Code: []CodeFile{{Path: file}}, NoDemangle: true})
	theirs := addr2line(t, file, addrs)
	for _, a := range addrs {
		var list []string
		for _, f := range theirs[a] {
			place := discriminator.ReplaceAllString(f.File, "")
			if strings.HasSuffix(place, ":?") || strings.HasSuffix(place, ":0") {
				place = "??:0" // the file without a line is that of a symbol STT_FILE
			}
			list = append(list, f.Sym+" "+path.Clean(place)) // package dwarf cleans them
		}
		want, got := strings.Join(list, "\n"), placesOf(s, a)
		if want == got {
			continue
		}
		sym, _, _, _ := s.Symbol(0, a, 0)
		switch {
		case sym == "" && len(list) == 1 && strings.HasPrefix(got, "?? ") && (strings.HasSuffix(want, "??:0") || strings.HasSuffix(want, got[2:])):
			why.padding++
			continue
		case strings.Contains(sym, ".") && strings.Replace(want, sym+" ", strings.Split(sym, ".")[0]+" ", 1) == got:
			why.parts++
			continue
		}
		if differ++; differ <= 8 {
			t.Logf("%x (%s):\n%s\naddr2line:\n%s", a, sym, got, want)
		}
	}
	return differ
}

// codeOf returns n addresses of a file's .text, evenly spread.
func codeOf(t *testing.T, file string, n uint64) (addrs []uint64) {
	f, err := elf.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := f.Section(".text")
	for a := uint64(0); a < s.Size; a += max(1, s.Size/n) {
		addrs = append(addrs, s.Addr+a)
	}
	return addrs
}

func TestAddr2line(t *testing.T) {
	for _, p := range steppedPrograms {
		t.Run(p.name, func(t *testing.T) {
			file := "/tmp/nm/steps/" + p.name + ".bin"
			addrs := codeOf(t, file, 25000)
			var why explained
			t.Logf("%d of %d differ, explained %+v", compareLines(t, file, addrs, &why), len(addrs), why)
		})
	}
}
