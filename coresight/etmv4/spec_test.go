package etmv4

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// testConfigs are trace units that differ in the packets they send.
var testConfigs = map[string]coresight.Config{
	"etmv4.0": {Protocol: coresight.ETMv4, Arch: coresight.Arch{Major: 8, Profile: 'A'}, V4: coresight.ETMv4Registers{
		IDR0: 0x28000ea1, IDR1: 0x4100f400, IDR2: 0x00000488}},
	"etmv4.6": {Protocol: coresight.ETMv4, Arch: coresight.Arch{Major: 8, Minor: 1, Profile: 'M'}, V4: coresight.ETMv4Registers{
		CONFIGR: 0x30700, IDR0: 0x000186f9, IDR1: 0x4100f460, IDR2: 0x00000804, IDR8: 16}},
	"ete1.0": {Protocol: coresight.ETE, Arch: coresight.Arch{Major: 8, Profile: 'A', AA64: true}, V4: coresight.ETMv4Registers{
		IDR0: 0x08000ca1, IDR2: 0x40001088, IDR8: 0x78, DEVARCH: 0x47705a13}},
	"ete1.3": {Protocol: coresight.ETE, Arch: coresight.Arch{Major: 8, Profile: 'A', AA64: true}, V4: coresight.ETMv4Registers{
		IDR0: 0x28c1cea1, IDR2: 0xd0001088, DEVARCH: 0x47735a13}},
}

// leadRange is one range of leading bytes, and what the trace unit must have.
type leadRange struct {
	rest []byte // bytes after the first
	from byte
	to   byte
	need need
}

func parseLead(t testing.TB, lead string) (rs []leadRange) {
	t.Helper()
	lead, word, _ := strings.Cut(lead, ":")
	var n need
	for _, x := range needs {
		if x.word == word {
			n = x.on
		}
	}
	if word != "" && n == 0 {
		t.Fatalf("%s: no need has that word", word)
	}
	hex := func(s string) byte {
		v, err := strconv.ParseUint(s, 16, 8)
		if err != nil || len(s) != 2 {
			t.Fatalf("lead %q: %v", lead, err)
		}
		return byte(v)
	}
	for _, w := range strings.Fields(lead) {
		lead := strings.Split(w, ".")
		from, to, isRange := strings.Cut(lead[0], "-")
		r := leadRange{from: hex(from), to: hex(from), need: n}
		if isRange {
			r.to = hex(to)
		}
		for _, b := range lead[1:] {
			r.rest = append(r.rest, hex(b))
		}
		rs = append(rs, r)
	}
	return rs
}

// row is a range of leading bytes with its packet.
type row struct {
	leadRange
	kind Kind
	tail string
}

// rowsOf returns the rows of the table that a trace unit has, by first byte.
func rowsOf(t testing.TB, d dialect) (rows [256][]row) {
	for k := ASync; k < NumKinds; k++ {
		for _, l := range specs[k].layouts {
			for _, r := range parseLead(t, l.lead) {
				for b := int(r.from); b <= int(r.to) && r.need&^d.has == 0; b++ {
					rows[b] = append(rows[b], row{r, k, l.tail})
				}
			}
		}
	}
	return rows
}

// byTable is the slow lexer, which reads the table of spec.go: the kind of
// packet that buf starts with, and its length in bytes. buf is long enough.
func byTable(t testing.TB, d dialect, rows *[256][]row, buf []byte) (Kind, int) {
rows:
	for _, r := range rows[buf[0]] {
		for i, b := range r.rest {
			if buf[1+i] != b {
				continue rows
			}
		}
		n := tailSize(t, r.tail, d, buf, 1+len(r.rest))
		if n == 0 {
			return Bad, 0
		}
		return r.kind, n
	}
	return Bad, 0
}

// tailSize returns where the items of tail, which start at buf[at:], end; 0:
// they have a form that is reserved.
func tailSize(t testing.TB, tail string, d dialect, buf []byte, at int) int {
	for _, item := range strings.Fields(tail) {
		if cond, rest, ok := strings.Cut(item, "?"); ok {
			if buf[1]>>(cond[1]-'0')&1 == 0 {
				continue
			}
			item = rest
		}
		word, arg, _ := strings.Cut(item, ":")
		switch word {
		case "plctl":
			if buf[at] >= 0x80 {
				return 0
			}
			at++
		case "uleb":
			for n := int(arg[0] - '0'); buf[at] >= 0x80; n-- {
				if at++; n == 1 {
					return 0
				}
			}
			at++
		case "stamp":
			for n := 1; n < 9 && buf[at] >= 0x80; n++ {
				at++
			}
			at++
		case "short":
			if buf[at] >= 0x80 {
				at++
			}
			at++
		case "info":
			info := buf[at]
			at++
			if info&0x40 != 0 {
				at += int(d.vmid)
			}
			if info&0x80 != 0 {
				at += int(d.cid)
			}
		case "type":
			b := buf[at]
			at++
			if b >= 0x80 || d.has&needETE != 0 && (b&0x3e == 0 || b&0x3e == 24<<1) {
				at++
			}
		default:
			n, err := strconv.Atoi(word)
			if err != nil {
				t.Fatalf("tail %q: item %q", tail, item)
			}
			at += n
		}
	}
	return at
}

// TestSpecAgrees runs all prefixes of two bytes, and those of three whose third
// byte matters, through the table and the lexer, with different bytes behind
// them. It would catch a header, a length or a condition that one of them has
// and the other not.
func TestSpecAgrees(t *testing.T) {
	for name, c := range testConfigs {
		d := newDialect(&c)
		rows := rowsOf(t, d)
		l := NewLexer(c, nil, 0)
		check := func(buf []byte) {
			l.Reset(buf, 0)
			var p Packet
			l.Next(&p)
			if k, n := byTable(t, d, &rows, buf); p.Kind != k || int(p.Len) != n {
				t.Fatalf("%s: %x: lexer: %v, %d bytes; table: %v, %d bytes", name, buf[:20], p.Kind, p.Len, k, n)
			}
		}
		full := testsize.Full(t)
		for _, fill := range []byte{0x00, 0x80, 0xff, 0x12} {
			buf := bytes.Repeat([]byte{fill}, 40)
			for i := range 1 << 16 {
				buf[0], buf[1], buf[2] = byte(i>>8), byte(i), fill
				check(buf)
				// The third byte matters behind a header and a byte that says
				// what follows, or that more follows.
				if buf[0] > 0x01 && buf[1] < 0x80 || fill&1 != 0 || !full && buf[1]%17 != 0 {
					continue
				}
				for third := range 256 {
					buf[2] = byte(third)
					check(buf)
				}
			}
		}
		// A-Sync is the only packet that three bytes do not say.
		check([]byte(async + "\x80\x80\x80\x80\x80\x80\x80\x80\x80"))
	}
}

// Catches a field that overlaps another; an address takes all of Value.
func TestFieldsDoNotOverlap(t *testing.T) {
	for k := ASync; k < NumKinds; k++ {
		var seen [inCIDSize + 1]uint64
		for _, f := range specs[k].fields {
			m := ^uint64(0) >> (64 - f.Width)
			if f.In == inAddress {
				f.In, f.Lo, m = inValue, 0, ^uint64(0)
			}
			if seen[f.In]&(m<<f.Lo) != 0 {
				t.Errorf("%v: %s overlaps", k, f.Name)
			}
			seen[f.In] |= m << f.Lo
		}
	}
}

// docTail is a layout's tail as the column of bytes writes it.
func docTail(tail string) string {
	items := strings.Fields(tail)
	for i, item := range items {
		cond, rest, ok := strings.Cut(item, "?")
		if !ok {
			rest, cond = item, ""
		}
		if word, arg, ok := strings.Cut(rest, ":"); ok {
			rest = word + arg
		} else if _, err := strconv.Atoi(rest); err == nil {
			rest = "+" + rest
		}
		items[i] = rest
		if cond != "" {
			items[i] = "[" + rest + "]"
		}
	}
	return strings.Join(items, " ")
}

// Catches a document that says something else than the table in spec.go, or
// shows text that is no packet.
func TestDocAgrees(t *testing.T) {
	packets.DocAgrees(t, []string{"packet", "bytes", "says", "source"}, 2, func(kind int) []string {
		s := &specs[kind]
		var leads []string
		for _, l := range s.layouts {
			lead, word, _ := strings.Cut(l.lead, ":")
			lead = strings.ReplaceAll(lead, ".", " ")
			one := "`" + strings.TrimSpace(lead+" "+docTail(l.tail)) + "`"
			for _, n := range needs {
				if word != "" && n.word == word {
					one += " (" + n.says + ")"
				}
			}
			leads = append(leads, one)
		}
		return []string{s.name, strings.Join(leads, ", "), s.meaning, s.source}
	})
}
