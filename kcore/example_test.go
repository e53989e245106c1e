package kcore_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/kcore"
	"github.com/ptdecode/ptdecode/kcore/image"
	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// A site of 5 bytes goes from a NOP to a call and back. Its code before, between
// and behind the two changes.
func Example() {
	dir, err := os.MkdirTemp("", "kcore")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	nop, call := []byte{0x0f, 0x1f, 0x44, 0, 0}, []byte{0xe8, 0x10, 0, 0, 0}
	file := filepath.Join(dir, "code")
	if err := os.WriteFile(file, append([]byte{0x55}, nop...), 0o666); err != nil {
		log.Fatal(err)
	}

	// An image, of before the changes: raw bytes need their address.
	const addr = 0xffffffff81000000
	img, err := image.Open(file, image.Options{Addr: addr})
	if err != nil {
		log.Fatal(err)
	}
	defer img.Close()

	// A journal of two changes, 1 ms and 2 ms after the clock's zero.
	journal, err := kcore.NewJournal([]kcore.Poke{
		kcore.RecordedPoke(1_000_000, 0, addr+1, nop, call),
		kcore.RecordedPoke(2_000_000, 0, addr+1, call, nop),
	})
	if err != nil {
		log.Fatal(err)
	}

	text := kcore.NewText(journal, img, kcore.TextOptions{})
	code := make([]byte, 6)
	for _, ns := range []uint64{500_000, 1_500_000, 2_500_000} {
		epoch, _ := journal.Epochs(event.Time{Lo: ns, Hi: ns})
		n, span := text.Fetch(code, addr, epoch)
		fmt.Printf("%4d us: epoch %d: % x, holds in epochs %d to %d\n", ns/1000, epoch, code[:n], span.From, min(span.Until, 3)-1)
	}
	// Output:
	//  500 us: epoch 0: 55 0f 1f 44 00 00, holds in epochs 0 to 0
	// 1500 us: epoch 1: 55 e8 10 00 00 00, holds in epochs 1 to 1
	// 2500 us: epoch 2: 55 0f 1f 44 00 00, holds in epochs 2 to 2
}

// What changes were made for shows in their bytes and in the names of the code.
func ExampleKinds() {
	k, err := symbols.ParseKallsyms("ffffffff81000000 T schedule\nffffffff81000100 T __SCT__tp_func\n", "kallsyms")
	if err != nil {
		log.Fatal(err)
	}
	journal, err := kcore.NewJournal([]kcore.Poke{
		kcore.RecordedPoke(1000, 0, 0xffffffff81000020, []byte{0x66, 0x90}, []byte{0xeb, 0x10}),
		kcore.RecordedPoke(2000, 0, 0xffffffff81000000, []byte{0x55}, []byte{0xcc}),
		kcore.RecordedPoke(3000, 0, 0xffffffff81000100, []byte{0xc3, 0, 0, 0, 0}, []byte{0xe9, 0, 1, 0, 0}),
	})
	if err != nil {
		log.Fatal(err)
	}
	names := symbols.New(k, nil, nil)
	for i, kind := range kcore.Kinds(journal, names) {
		p := journal.Poke(i)
		y, off, _ := names.Lookup(p.Addr, p.Time)
		fmt.Println(y.Format(off), p.Scheme, kind)
	}
	// Output:
	// schedule+0x20 bp jump-label
	// schedule kprobe kprobe
	// __SCT__tp_func bp static-call
}
