package story

import (
	"fmt"
	"strings"

	"github.com/ptdecode/ptdecode/decoder/report"
)

// CodeLine renders a line of code. Where width is less than it takes, 0 for any, a line of its own
// says which symbol begins. It is *symbol from then on.
func CodeLine(l *report.Line, width int, symbol *string) string {
	mark := ' '
	if l.Pokes > 0 {
		mark = '*'
	}
	sym := ""
	if l.Symbol != "" {
		sym = "  <" + l.Symbol + ">"
	}
	if l.Bytes == nil {
		return fmt.Sprintf("%c %016x  %d bytes unknown%s\n", mark, l.Addr, l.Len, sym)
	}
	if width == 0 || width >= 120 {
		return strings.TrimRight(fmt.Sprintf("%c %016x  %-30x  %-40s%s", mark, l.Addr, l.Bytes, l.Insn, sym), " ") + "\n"
	}
	line := fmt.Sprintf("%c %016x  %-20x  %s", mark, l.Addr, l.Bytes, l.Insn)
	if r := []rune(line); len(r) > width {
		line = string(r[:width-1]) + "…"
	}
	if name, _, _ := strings.Cut(l.Symbol, "+0x"); name != *symbol {
		*symbol = name
		line = strings.TrimLeft(sym, " ") + ":\n" + line
	}
	return line + "\n"
}
