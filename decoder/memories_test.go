package decoder

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/coresight/etmv3"
	"github.com/ptdecode/ptdecode/coresight/etmv4"
	"github.com/ptdecode/ptdecode/coresight/ptm"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// TestMemories would catch text read from memory that the traced code did not
// see, memory left out that it did, and which of two dumps at one address
// holds.
func TestMemories(t *testing.T) {
	v4 := coresight.Config{Protocol: coresight.ETMv4, Arch: coresight.Arch{Major: 8, Profile: 'A'}, V4: coresight.ETMv4Registers{IDR1: 0x4100f403}}
	trace := func(context string) []byte {
		b, err := etmv4.Assemble(v4, nil, "async\ninfo 0x0\non\naddrctxt.64 0x1000 "+context+"\natom.f1 e\n")
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	v3 := coresight.ETMv3Registers{IDR: 0x411cf301}
	pt := ptm.Packet{Kind: ptm.ISync, Value: 0x1000, Info: 0x29}.Append(ptm.Packet{Kind: ptm.ASync, N: 5}.Append(nil))
	e3 := etmv3.Packet{Kind: etmv3.ISync, Value: 0x1000, Info: 0x21}.Append(etmv3.Packet{Kind: etmv3.ASync, N: 5}.Append(nil))
	// a has 01 in each byte, b 02.
	for _, c := range []struct {
		name  string
		cs    coresight.Config
		data  []byte
		dumps string // NAME ADDRESS SPACE;...
		want  byte   // the byte at 0x1000; 0: none
		warn  string
	}{
		{"no space", v4, trace("1 sf ns"), "a 0x1000 ANY", 1, ""},
		{"its own", v4, trace("1 sf ns"), "a 0x1000 EL1N", 1, ""},
		{"EL0 sees what EL1 sees", v4, trace("0 sf ns"), "a 0x1000 N", 1, ""},
		{"another level's", v4, trace("1 sf ns"), "a 0x1000 EL2", 0, "of space EL2N, in which nothing is traced (EL1N is)"},
		{"another state's", v4, trace("1 sf"), "a 0x1000 N", 0, "of space N, in which nothing is traced (EL1S is)"},
		{"EL3", v4, trace("3 sf"), "a 0x1000 S", 1, ""},
		{"realm", v4, trace("2 sf ns nse"), "a 0x1000 EL2R", 1, ""},
		{"root is none of them", v4, trace("3 sf nse"), "a 0x1000 R", 0, "(ROOT is)"},
		{"the other one at the same address", v4, trace("2 sf ns"), "a 0x1000 EL1N;b 0x1000 EL2N", 2, "of space EL1N"},
		{"the first of two", v4, trace("1 sf ns"), "a 0x1000 ANY;b 0xff0 N", 1, "memory at 0x1000 is another one in cpu.ini"},
		{"and what it does not hold", v4, trace("1 sf ns"), "a 0xff0 ANY;b 0xff8 ANY", 2, "memory at 0xff8 is another one"},
		{"two that say the same", v4, trace("1 sf ns"), "a 0x1000 ANY;a 0xff8 ANY", 1, ""},
		{"PTM, Non-secure", coresight.Config{Protocol: coresight.PTM, Arch: coresight.Arch{Major: 7, Profile: 'A'}, V3: v3}, pt, "a 0x1000 S;b 0x1000 N", 2, "(EL1N, EL2N is)"},
		{"ETMv3, Secure", coresight.Config{Protocol: coresight.ETMv3, Arch: coresight.Arch{Major: 7, Profile: 'A'}, V3: coresight.ETMv3Registers{IDR: 0x410cf250}}, e3,
			"a 0x1000 EL3;b 0x1000 N", 1, "of space N"},
		{"nothing is traced", v4, nil, "a 0x1000 EL3", 1, ""},
	} {
		dir := writeMemories(t, &c.cs, c.data, c.dumps)
		s, err := Open(Config{Recording: dir})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var got [1]byte
		if n, _ := s.Text().Fetch(got[:], 0x1000, event.Epoch(0)); n == 0 {
			got[0] = 0
		}
		var warn []string
		for _, w := range s.Warnings() {
			warn = append(warn, w.What)
		}
		all := strings.Join(warn, "\n")
		if got[0] != c.want || (c.warn == "") != !strings.Contains(all, "memory at") || !strings.Contains(all, c.warn) {
			t.Errorf("%s: byte %d, want %d; warnings %q, want %q", c.name, got[0], c.want, all, c.warn)
		}
		s.Close()
	}
}

// writeMemories writes a snapshot with a raw buffer of a source and dumps of its
// core.
func writeMemories(t *testing.T, cs *coresight.Config, data []byte, dumps string) string {
	t.Helper()
	put := folder(t)
	cpu := "[device]\nname=cpu\nclass=core\ntype=ARMv8-A\n"
	for i, d := range strings.Split(dumps, ";") {
		f := strings.Fields(d)
		cpu += fmt.Sprintf("[dump%d]\nfile=%s.bin\naddress=%s\nspace=%s\n", i, f[0], f[1], f[2])
	}
	typ := map[coresight.Protocol]string{coresight.ETMv4: "ETM4", coresight.PTM: "PTM1.0", coresight.ETMv3: "ETM3"}[cs.Protocol]
	put("a.bin", string(bytes.Repeat([]byte{1}, 16)))
	put("b.bin", string(bytes.Repeat([]byte{2}, 32)))
	put("cpu.ini", cpu)
	put("src.ini", fmt.Sprintf("[device]\nname=src\nclass=trace_source\ntype=%s\n[regs]\nTRCCONFIGR=0\nTRCTRACEIDR=16\nTRCIDR0=0\nTRCIDR1=%d\nTRCIDR2=0\nETMCR=0\nETMTRACEIDR=16\nETMCCER=0\nETMIDR=%d\n",
		typ, cs.V4.IDR1, cs.V3.IDR))
	put("snapshot.ini", "[snapshot]\nversion=1.0\n[device_list]\nd0=cpu.ini\nd1=src.ini\n[trace]\nmetadata=trace.ini\n")
	put("trace.ini", "[trace_buffers]\nbuffers=b\n[b]\nname=B\nfile=trace.bin\nformat=source_data\n[source_buffers]\nsrc=B\n[core_trace_sources]\ncpu=src\n")
	return filepath.Dir(put("trace.bin", string(data)))
}
