package story

import (
	"fmt"
	"strings"

	"github.com/ptdecode/ptdecode/cmd/internal/plural"
	"github.com/ptdecode/ptdecode/cmd/internal/terminal"
	"github.com/ptdecode/ptdecode/decoder/report"
)

// codeColumns is the width from which on lines of code have a column of symbols.
const codeColumns = 120

// CodeLine renders a line of code. Where width is less than codeColumns, but not 0, a line of its own says which symbol
// begins. It is *symbol from then on.
func CodeLine(l *report.Line, width int, symbol *string) string {
	mark := ' '
	if l.Pokes > 0 {
		mark = '*'
	}
	sym, insn := "", terminal.Plain(l.Insn)
	if l.Symbol != "" {
		sym = "  <" + terminal.Plain(l.Symbol) + ">"
	}
	if l.Bytes == nil {
		return fmt.Sprintf("%c %016x  %s unknown%s\n", mark, l.Addr, plural.Count(l.Len, "byte"), sym)
	}
	if width == 0 || width >= codeColumns {
		return strings.TrimRight(fmt.Sprintf("%c %016x  %-30x  %-40s%s", mark, l.Addr, l.Bytes, insn, sym), " ") + "\n"
	}
	line := fmt.Sprintf("%c %016x  %-20x  %s", mark, l.Addr, l.Bytes, insn)
	if r := []rune(line); len(r) > width {
		line = string(r[:width-1]) + "…"
	}
	if name, _, _ := strings.Cut(l.Symbol, "+0x"); name != *symbol {
		if *symbol = name; name == "" {
			return line + "\n"
		}
		line = strings.TrimLeft(sym, " ") + ":\n" + line
	}
	return line + "\n"
}
