package decoder

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// TestBPFInTime would catch a BPF program's code that is known before it was
// loaded or after it was gone. It would also catch one taken for another that
// had its address at another time, and a change to one taken for a break.
func TestBPFInTime(t *testing.T) {
	const addr = 0xffffffffc0001000
	ksym := func(time, addr uint64, name string, gone bool) string {
		return fmt.Sprintf(`{"type":"ksymbol","time":%d,"cpu":0,"addr":"%x","len":64,"name":%q,"kind":"bpf","gone":%v}`, time, addr, name, gone)
	}
	text := func(addr uint64, id int, tag, b string) string {
		return fmt.Sprintf(`{"type":"text","addr":"%x","bpf_id":%d,"tag":%q,"bytes":%q}`, addr, id, tag, b)
	}
	lines := []string{
		`{"type":"stream","version":1}`,
		text(addr, 1, "aa00000000000001", "9090c3"),
		text(addr, 2, "aa00000000000002", "666690c3"),
		text(addr, 3, "", "909090c3"),                                           // a function: its tag is not the program's
		text(addr+0x1000, 4, "aa00000000000004", "90c3"),                        // there before and after
		text(addr+0x2000, 5, "aa00000000000005", "f3e801020304c3"),              // asked for when it was changed already
		text(addr+0x3000, 6, "aa00000000000006", strings.Repeat("90", 0x12000)), // more than a poke holds
		ksym(100, addr, "bpf_prog_aa00000000000001_x", false),
		`{"type":"bpf","time":101,"cpu":0,"kind":"load","bpf_id":1}`,
		ksym(200, addr, "bpf_prog_aa00000000000001_x", true),
		ksym(300, addr, "bpf_prog_aa00000000000002_x", false),
		ksym(400, addr, "bpf_prog_aa00000000000002_x", true),
		ksym(500, addr, "bpf_prog_aa00000000000003_f", false),
		`{"type":"bpf","time":501,"cpu":0,"kind":"load","bpf_id":3}`,
		ksym(600, addr, "bpf_prog_aa00000000000003_f", true),
		ksym(350, addr+0x2000, "bpf_prog_aa00000000000005_y", false),
		`{"type":"text_poke","time":450,"cpu":0,"addr":"ffffffffc0003001","old":"0f1f440000","new":"e801020304"}`,
		ksym(650, addr+0x2000, "bpf_prog_aa00000000000005_y", true),
		ksym(700, addr+0x3000, "bpf_prog_aa00000000000006_z", false),
	}
	lines[len(lines)-1] = strings.Replace(lines[len(lines)-1], `"len":64`, `"len":73728`, 1)
	s := opened(t, Config{Events: folder(t)("e.jsonl", strings.Join(lines, "\n")+"\n")})
	tx := s.Text()
	for _, tt := range []struct {
		time, addr uint64
		want       string
	}{
		{50, addr, ""}, {150, addr, "9090c3"}, {250, addr, ""}, {350, addr, "666690c3"}, {450, addr, ""}, {550, addr, "909090c3"}, {650, addr, ""},
		{50, addr + 0x1000, "90c3"}, {650, addr + 0x1000, "90c3"},
		{340, addr + 0x2000, ""}, {440, addr + 0x2000, "f30f1f440000c3"}, {460, addr + 0x2000, "f3e801020304c3"}, {660, addr + 0x2000, ""},
		{690, addr + 0x3000 + 0x11ffe, ""}, {710, addr + 0x3000 + 0x11ffe, "9090"},
	} {
		lo, hi := tx.Epochs(event.Time{Lo: tt.time, Hi: tt.time})
		var b [8]byte
		n, _ := tx.Fetch(b[:], tt.addr, lo)
		if lo != hi || fmt.Sprintf("%x", bytes.Clone(b[:n])) != tt.want {
			t.Errorf("%d ns, %#x: % x (epochs %d to %d), want %s", tt.time, tt.addr, b[:n], lo, hi, tt.want)
		}
	}
	if fs := tx.Findings(); len(fs) != 0 {
		t.Errorf("findings %v", fs)
	}
}
