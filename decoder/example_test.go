package decoder_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"testing/fstest"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/badfile"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// demo is a recording of two CPUs, one of which changes a jump label in the kernel's
// code. A perf.data needs one line only: decoder.Config{Recording: "perf.data"}.
var demo = decoder.Config{
	Raw: []decoder.RawTrace{
		{Protocol: decoder.IntelPT, CPU: 0, Path: "../cmd/ptdecode/demo/cpu0.pt"},
		{Protocol: decoder.IntelPT, CPU: 1, Path: "../cmd/ptdecode/demo/cpu1.pt"},
	},
	Kcore:    "../cmd/ptdecode/demo/kcore",
	Kallsyms: "../cmd/ptdecode/demo/kallsyms",
	Events:   "../cmd/ptdecode/demo/events.jsonl",
}

// Example prints what CPU 1 executed while CPU 0 changed the code at
// handle_event+0x3.
func Example() {
	s, err := decoder.Open(demo)
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	for r, err := range s.Ranges(context.Background(), decoder.Query{Streams: []int{1}}) {
		if err != nil {
			fmt.Println(err) // a gap, after which the loop goes on, or the error that ends it
			continue
		}
		fmt.Printf("%s %x-%x %s %s\n", event.Seconds(r.Time.Lo), r.Addr, r.End, r.Symbol(), r.Verdict)
	}
	// Output:
	// 4.999999999 s ffffffff81000000-ffffffff81000005 entry_SYSCALL_64 certain
	// 4.999999999 s ffffffff81000020-ffffffff81000029 handle_event certain
	// 4.999999999 s ffffffff81000005-ffffffff81000008 entry_SYSCALL_64+0x5 certain
	// 5.000000957 s ffffffff81000000-ffffffff81000005 entry_SYSCALL_64 certain
	// 5.000000957 s ffffffff81000020-ffffffff81000023 handle_event certain
	// 5.000000957 s ffffffff81000040-ffffffff81000045 asm_exc_int3 certain
	// 5.000000957 s ffffffff81000060-ffffffff81000064 exc_int3 certain
	// 5.000000957 s ffffffff81000045-ffffffff81000047 asm_exc_int3+0x5 certain
	// 5.000000957 s ffffffff81000029-ffffffff8100002e handle_event+0x9 certain
	// 5.000000957 s ffffffff81000028-ffffffff81000029 handle_event+0x8 certain
	// 5.000000957 s ffffffff81000005-ffffffff81000008 entry_SYSCALL_64+0x5 certain
	// 5.000001917 s ffffffff81000000-ffffffff81000005 entry_SYSCALL_64 certain
	// 5.000001917 s ffffffff81000020-ffffffff81000028 handle_event certain
	// 5.000001917 s ffffffff81000029-ffffffff8100002e handle_event+0x9 certain
	// 5.000001917 s ffffffff81000028-ffffffff81000029 handle_event+0x8 certain
	// 5.000001917 s ffffffff81000005-ffffffff81000008 entry_SYSCALL_64+0x5 certain
}

// ExampleOpen opens a recording that is in memory, and learns what is wrong with it.
func ExampleOpen() {
	held := fstest.MapFS{"perf.data": {Data: []byte("no recording of perf")}}
	_, err := decoder.Open(decoder.Config{FS: held, Recording: "perf.data"})
	var bad *badfile.Error
	if errors.As(err, &bad) {
		fmt.Printf("%s, byte %d: %s\n", bad.File, bad.Off, bad.What)
	}
	// Output: perf.data, byte 0: header: magic "no recor", need "PERFILE2": not a perf.data file; record one with perf record
}
