package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
)

// inputs writes what rows read besides recordings.
func (p *place) inputs() error {
	for name, write := range map[string]func(io.Writer) error{
		"pokes.jsonl": pokes(400_000), "kallsyms": symbols(1_000_000), "processes.jsonl": processes(100_000),
	} {
		if err := create(p.made(name), write); err != nil {
			return err
		}
	}
	trace, _ := p.program("qemu")
	if err := repeated(p.made("qemu.pt"), trace, 64<<20); err != nil {
		return err
	}
	if _, err := os.Stat(p.big); p.big == "" || err == nil {
		return nil
	}
	trace, _ = p.program("mruby")
	return repeated(p.big, trace, 8<<30)
}

// create makes a file of what write writes.
func create(path string, write func(io.Writer) error) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	if err := write(w); err != nil {
		f.Close()
		return err
	}
	if err := w.Flush(); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// repeated makes a file of at least n bytes: those of another, time and again.
func repeated(path, of string, n int) error {
	buf, err := os.ReadFile(of)
	if err != nil {
		return err
	}
	return create(path, func(w io.Writer) error {
		for done := 0; done < n; done += len(buf) {
			if _, err := w.Write(buf); err != nil {
				return err
			}
		}
		return nil
	})
}

const firstEvent = `{"type":"stream","version":1}`

// pokes writes n pokes of 5,000 sites, each from a NOP to a jump or back.
func pokes(n int) func(io.Writer) error {
	return func(w io.Writer) error {
		code := [2]string{"0f1f440000", "e912345600"}
		fmt.Fprintln(w, firstEvent)
		for i := range n {
			site, round := i%5000, i/5000
			_, err := fmt.Fprintf(w, `{"type":"text_poke","time":%d,"cpu":%d,"pid":111,"tid":111,"addr":"%x","old":"%s","new":"%s","scheme":"bp"}`+"\n",
				1000+i*1000, i%2, uint64(0xffffffff82000000)+uint64(site)*16, code[round%2], code[1-round%2])
			if err != nil {
				return err
			}
		}
		return nil
	}

}

// symbols writes n symbols in the form of /proc/kallsyms, the last tenth of a module.
func symbols(n int) func(io.Writer) error {
	return func(w io.Writer) error {
		for i := range n {
			kind, module := "t", ""
			if i%17 == 0 {
				kind = "d"
			}
			if i > n/10*9 {
				module = "\t[some_module]"
			}
			if _, err := fmt.Fprintf(w, "%x %s some_function_name_%06x%s\n", uint64(0xffffffff81000000)+uint64(i)*64, kind, i, module); err != nil {
				return err
			}
		}
		return nil
	}

}

// processes writes n processes: each is forked, executes one of 977 programs and exits.
func processes(n int) func(io.Writer) error {
	return func(w io.Writer) error {
		fmt.Fprintln(w, firstEvent)
		for i := range n {
			at, pid := 1000+i*3000, 1000+i
			_, err := fmt.Fprintf(w, `{"type":"fork","time":%[1]d,"cpu":0,"pid":%[2]d,"tid":%[2]d,"ppid":1,"ptid":1}
{"type":"comm","time":%[3]d,"cpu":0,"pid":%[2]d,"tid":%[2]d,"comm":"prog%[4]d","exec":true}
{"type":"mmap","time":%[5]d,"cpu":0,"pid":%[2]d,"tid":%[2]d,"addr":"400000","len":65536,"pgoff":"0","file":"/usr/bin/prog%[4]d","prot":5,"flags":2}
{"type":"exit","time":%[6]d,"cpu":0,"pid":%[2]d,"tid":%[2]d,"ppid":1,"ptid":1}
`, at, pid, at+1000, i%977, at+1500, at+2500)
			if err != nil {
				return err
			}
		}
		return nil
	}

}
