package decoder

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/internal/sideband"
	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// BenchmarkParsers measures reading of what lies beside a trace: bytes are of the file.
func BenchmarkParsers(b *testing.B) {
	const n = 20_000
	var pokes, names, modules strings.Builder
	for i := range n {
		fmt.Fprintf(&pokes, `{"type":"text_poke","time":%d,"cpu":%d,"pid":111,"tid":111,"addr":"%x","old":"0f1f440000","new":"e912345600","scheme":"bp"}`+"\n",
			1000+i*1000, i%2, 0xffffffff82000000+uint64(i)*16)
		fmt.Fprintf(&names, "%x t some_function_name_%06x\t[some_module]\n", 0xffffffff81000000+uint64(i)*64, i)
		fmt.Fprintf(&modules, "some_module_%d 16384 1 other_module,another_module, Live 0x%x (E)\n", i, 0xffffffffc0000000+uint64(i)*16384)
	}
	for _, c := range []struct {
		name, text string
		read       func(string) error
	}{
		{"events", pokes.String(), func(text string) error {
			r := sideband.NewReader(strings.NewReader(text), "events")
			for {
				if _, err := r.Read(); err == io.EOF {
					return nil
				} else if err != nil {
					return err
				}
			}
		}},
		{"kallsyms", names.String(), func(text string) error {
			_, err := symbols.ParseKallsyms(text, "kallsyms")
			return err
		}},
		{"modules", modules.String(), func(text string) error {
			_, err := symbols.ParseModules([]byte(text), "modules")
			return err
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			quickest(b, int64(len(c.text)), func() {
				if err := c.read(c.text); err != nil {
					b.Fatal(err)
				}
			})
		})
	}
}
