package decoder_test

import (
	"context"
	"fmt"
	"log"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/rows"
)

// Example_rows lists the calls of a recording, and the breakpoint exception that a
// CPU took while the kernel's code was changed.
func Example_rows() {
	const dir = "../cmd/ptdecode/demo/"
	s, err := decoder.Open(decoder.Config{
		Raw:   []decoder.RawTrace{{Protocol: decoder.IntelPT, CPU: 0, Path: dir + "cpu0.pt"}, {Protocol: decoder.IntelPT, CPU: 1, Path: dir + "cpu1.pt"}},
		Kcore: dir + "kcore", Kallsyms: dir + "kallsyms", Events: dir + "events.jsonl",
	})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	var streams []rows.Stream
	for _, st := range s.Streams() {
		streams = append(streams, rows.Stream{Index: st.Index, CPU: st.CPU, TID: st.TID, Name: st.Name})
	}
	var names *rows.Names
	m := rows.New(s, streams, nil, rows.Options{Level: rows.LevelCall, TIDs: []int32{101}}, func(r *rows.Row) error {
		if r.Kind == rows.KindTrap {
			fmt.Printf("%*s%v at %s: the handler executed %s\n", 2*r.Depth, "", r.Kind, names.At(r, r.IP).Sym, names.Emulated(r))
		} else if sym := names.At(r, r.IP).Sym; sym != "" {
			fmt.Printf("%*s%v %s\n", 2*r.Depth, "", r.Transfer, sym)
		}
		return nil
	})
	names = m.Names()
	if err := s.Flow(context.Background(), decoder.Query{Merged: true}, m); err != nil {
		log.Fatal(err)
	}
	if err := m.Close(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// tr strt entry_SYSCALL_64
	// call handle_event
	// tr strt entry_SYSCALL_64
	// call handle_event
	//   trap at handle_event: the handler executed jmp 0xffffffff81000029 <handle_event+0x9>
	// tr strt entry_SYSCALL_64
	// call handle_event
}
