package decoder

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/decoder/internal/recording"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
)

// TestDifferences keeps what docs/formats/coresight-differences.md says
// ptdecode makes of bytes that OpenCSD takes differently. It would catch a flow
// led by a return stack that is popped twice, not at all or after code that is
// missing. It would also catch an instruction that was cancelled, and the wrong
// instruction set.
func TestDifferences(t *testing.T) {
	const (
		ret, eret, bcond = 0xd65f03c0, 0xd69f03e0, 0x54000040 // b.eq 8 bytes on
		entry4           = "000000000000000000000080 0100 04 850008000000000000 31"
		entry3           = "000000000080 082900100000"
	)
	bl := func(from, to uint32) uint32 { return 0x94000000 | (to-from)>>2 }
	stack := coresight.ETMv4Registers{IDR0: 0x28000ea1, IDR1: 0x4100f420, IDR2: 0x0c001088, CONFIGR: 1<<12 | 1}
	v4 := coresight.Config{Protocol: coresight.ETMv4, ID: 0x10, Arch: coresight.Arch{Major: 8, Profile: 'A', AA64: true}, V4: stack}
	ete := v4
	ete.Protocol, ete.V4.DEVARCH = coresight.ETE, 0x47725a13
	q := v4
	q.V4.IDR0 |= 3 << 15
	q.V4.CONFIGR |= 3 << 13
	deep := q
	deep.V4.IDR8 = 2
	deep.V4.CONFIGR &^= 1 << 12
	v3 := coresight.Config{Protocol: coresight.ETMv3, ID: 0x10, Arch: coresight.Arch{Major: 7, Profile: 'A'}, V3: coresight.ETMv3Registers{IDR: 0x410cf250}}

	calls := map[uint32]uint32{0x1000: bl(0x1000, 0x1010), 0x1010: ret, 0x1008: bcond}
	for _, c := range []struct {
		name  string
		cs    coresight.Config
		bytes string
		code  map[uint32]uint32 // from 0x1000 to 0x10ff; all else is NOP
		want  string            // addresses, and why there is none
	}{
		{"a predicted return before a source address", ete, entry4 + "db b402", calls, "1000 1010 1004 1008"},
		{"an exception whose address is the target", v4, entry4 + "ff 07 064c 9510 950c f7 f7",
			map[uint32]uint32{0x1000: bl(0x1000, 0x1010), 0x1010: bl(0x1010, 0x1020), 0x1020: eret, 0x1030: ret, 0x1014: ret},
			"1000 1010 1020 1030 1014"},
		{"a return before a Q", q, entry4 + "db a51002 f7", map[uint32]uint32{0x1000: bl(0x1000, 0x1010), 0x1010: ret, 0x1040: bcond},
			"1000 1010 no-path 1040"},
		{"a Q and speculation", deep, entry4 + "a51002 f7 f6 f6 2d02", map[uint32]uint32{0x1040: bcond, 0x1048: bcond, 0x104c: bcond},
			"no-path 1040 1048 104c"},
		{"calls in code that is missing", v4, entry4 + "db 9508 f7 f7", map[uint32]uint32{0x1000: bl(0x1000, 0x1200), 0x1020: ret, 0x1004: bcond},
			"1000 no-text 1020 no-call"},
		{"a cancelled instruction", v3, entry3 + "8c 818180804837", nil, "1000 1004"},
		{"BLX to an immediate", v3, entry3 + "90 88", map[uint32]uint32{0x100c: 0xfa000003, 0x1020: 0xbf00bf00}, "1000 1004 1008 100c 1020 1022"},
	} {
		data, err := hex.DecodeString(strings.ReplaceAll(c.bytes, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		nop := uint32(0xd503201f)
		if c.cs.Protocol == coresight.ETMv3 {
			nop = 0xe1a00000
		}
		var code []byte
		for a := uint32(0x1000); a < 0x1100; a += 4 {
			w, ok := c.code[a]
			if !ok {
				w = nop
			}
			code = binary.LittleEndian.AppendUint32(code, w)
		}
		f := recording.New(&recording.Config{})
		f.Code = []recording.Code{{Addr: 0x1000, Bytes: code}}
		f.Streams = []*stream.Stream{{CPU: 0, TID: -1, Size: int64(len(data)), Data: stream.Memory(data), Unit: c.cs, Protocol: stream.ForUnit(c.cs.Protocol)}}
		s := &Session{rec: f}
		if err := s.assemble(); err != nil {
			t.Fatal(err)
		}
		got := steps{}
		if err := s.Flow(context.Background(), Query{Jobs: 1}, got); err != nil {
			t.Fatal(err)
		}
		var line []string
		for _, x := range got[0] {
			if x.gap != nil {
				line = append(line, x.gap.Reason.String())
			} else {
				line = append(line, fmt.Sprintf("%x", x.ip))
			}
		}
		if g := strings.Join(line, " "); g != c.want {
			t.Errorf("%s: %s, want %s", c.name, g, c.want)
		}
	}
}
