package report_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/report"
)

// demo opens a recording of two CPUs, one of which changes a jump label.
func demo() *decoder.Session {
	s, err := decoder.Open(decoder.Config{
		FS: os.DirFS("../../cmd/ptdecode/demo"),
		Raw: []decoder.RawTrace{
			{Protocol: decoder.IntelPT, CPU: 0, Path: "cpu0.pt"},
			{Protocol: decoder.IntelPT, CPU: 1, Path: "cpu1.pt"},
		},
		Kcore: "kcore", Kallsyms: "kallsyms", Events: "events.jsonl",
	})
	if err != nil {
		log.Fatal(err)
	}
	return s
}

// ExampleCrossings tells how each CPU went from a change's old code to its new.
func ExampleCrossings() {
	s := demo()
	defer s.Close()
	list, _, err := (&report.Crossings{Session: s}).Decode(context.Background(), decoder.Query{})
	if err != nil {
		log.Fatal(err)
	}
	for p := range s.Pokes() {
		for _, c := range list[p.Index] {
			fmt.Printf("%s on %s: old %d times, breakpoint %d, new %d: %s\n",
				p.Symbol, s.Streams()[c.Stream].Name, c.Old.N, c.Traps.N, c.New.N, c.Verdict())
		}
	}
	// Output: handle_event+0x3 on cpu1: old 1 times, breakpoint 1, new 1: exception
}

// ExampleDiff disassembles what a change did.
func ExampleDiff() {
	s := demo()
	defer s.Close()
	for _, c := range report.Diff(s, 0, event.Epoch(s.Text().Len())) {
		before, _ := report.Insn(s, c.Old, c.Addr, 0)
		after, _ := report.Insn(s, c.New, c.Addr, 0)
		fmt.Printf("%s: %s, then %s\n", c.Symbol, before, after)
	}
	// Output: handle_event+0x3: nopl (%rax,%rax), then jmp 0xffffffff81000029 <handle_event+0x9>
}
