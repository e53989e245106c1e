package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/pt"
)

// mappedOften makes the files of a program's runs: one at 0x401000, two at 0x701000 in the same process, and
// three at 0x901000 in another process. It returns the flags that name them.
func mappedOften(t *testing.T) []string {
	t.Helper()
	t.Chdir(t.TempDir())
	docProgram(t)
	var text strings.Builder
	at := 200
	for i, base := range []int{0x401000, 0x701000, 0x901000} {
		for range i + 1 {
			fmt.Fprintf(&text, "psb\ntsc %#x\nmode.exec l\npsbend\ntip.pge 6: %#x\ntnt ttn\ntip 6: %#x\ntip.pgd\ntsc %#x\n", at, base, base+0xe, at+10)
			at += 20
		}
		at += 80
	}
	fmt.Fprintf(&text, "psb\ntsc %#x\npsbend\n", at)
	trace, err := pt.Assemble(nil, text.String())
	must(t)(err)
	events, err := os.ReadFile("prog/events.jsonl")
	must(t)(err)
	put(t, map[string][]byte{"cpu0.pt": trace, "events.jsonl": append(events, `{"type":"mmap","time":3,"pid":10,"tid":10,"addr":"701000","len":4096,"pgoff":"1000","prot":5,"file":"/prog"}
{"type":"comm","time":4,"pid":11,"tid":11,"comm":"prog","exec":true}
{"type":"mmap","time":5,"pid":11,"tid":11,"addr":"901000","len":4096,"pgoff":"1000","prot":5,"file":"/prog"}
{"type":"switch","time":390,"cpu":0,"pid":11,"tid":11,"other_pid":10,"other_tid":10}
`...)})
	return []string{"--pt", "0:cpu0.pt", "--events", "events.jsonl", "--symfs", "prog"}
}

// TestMappedOften would catch profiles, coverage and calls of one run of a program, where several ran at addresses of
// their own. Each runs every instruction of the loop three times, and all others once.
func TestMappedOften(t *testing.T) {
	flags := mappedOften(t)
	for _, x := range []struct {
		format string
		want   []string
	}{
		{"autofdo", []string{"0-7:6", "e-e:6", "7->5:12", "11->e:6"}},
		{"profgen", []string{"0-7:6", "7->5:12"}},
		{"bolt", []string{"B 401007 401005 12 0", "f 401000 401007 6"}},
		{"calls", []string{"       6        -        -        -        -        -  _start (/prog)", "       6      0ns      0ns      0ns      0ns      0ns  leaf (/prog)"}},
		{"lcov", []string{"FNDA:6,leaf", "BRDA:3,0,0,12", "BRDA:3,0,1,6", "BRF:2", "DA:1,6", "DA:2,18", "DA:6,0"}},
	} {
		var out, errs bytes.Buffer
		args := []string{"export", "-o", x.format + ":-"}
		if x.format == "calls" {
			args = []string{"calls", "--sort", "name"}
		}
		if c := run(append(args, flags...), nil, &out, &errs); c != exitWhole {
			t.Fatalf("%s: exit code %d: %s", x.format, c, &errs)
		}
		for _, line := range x.want {
			if !strings.Contains("\n"+out.String(), "\n"+line+"\n") {
				t.Errorf("%s: no line %s:\n%s%s", x.format, line, &out, &errs)
			}
		}
		if strings.Contains(errs.String(), "left out") {
			t.Errorf("%s: %s", x.format, &errs)
		}
	}
}
