package manual

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ptdecode/ptdecode/cmd/internal/terminal"
)

const (
	// Columns is how wide help is at most.
	Columns = 80
	// flagColumn is where what a flag does begins. A flag that reaches as far has it on the next line.
	flagColumn = 26
)

// Help writes the help of c in lines of width columns at most, as far as blanks allow it.
func Help(w io.Writer, c *cobra.Command, width int) error {
	text := Wrapped(long(c), width) + "\n"
	if c.Runnable() || c.HasSubCommands() {
		text += "\n" + Usage(c, width)
	}
	_, err := io.WriteString(w, text)
	return err
}

// Usage returns how c is called: its synopsis, examples, verbs and flags.
func Usage(c *cobra.Command, width int) string {
	var b strings.Builder
	b.WriteString("Usage:\n  " + synopsis(c) + "\n")
	if c.HasExample() {
		b.WriteString("\nExamples:\n" + c.Example + "\n")
	}
	if list := Verbs(c); len(list) > 0 {
		b.WriteString("\nVerbs:\n")
		for _, v := range list {
			b.WriteString(entry("  "+v.Name(), 14, v.Short, width))
		}
	}
	if list := topics(c); len(list) > 0 {
		b.WriteString("\nMore help:\n")
		for _, t := range list {
			b.WriteString(entry("  "+synopsis(t), flagColumn, t.Short, width))
		}
	}
	if f := Flags(c); c.HasParent() && f.HasAvailableFlags() {
		b.WriteString("\nFlags:\n" + FlagUsages(f, width))
	}
	all := c.Root().PersistentFlags()
	if c.HasParent() {
		all = c.InheritedFlags() // without those in whose place c has one of its own
	}
	if all.HasAvailableFlags() {
		b.WriteString("\nFlags of all verbs:\n" + FlagUsages(all, width))
	}
	if c.HasSubCommands() {
		b.WriteString("\nptdecode VERB --help says all of a verb.\n")
	}
	return b.String()
}

// FlagUsages returns a paragraph for each flag, in lines of width columns at most.
func FlagUsages(flags *pflag.FlagSet, width int) string {
	var b strings.Builder
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		arg, usage := pflag.UnquoteUsage(f)
		name := "      --" + f.Name
		if f.Shorthand != "" {
			name = "  -" + f.Shorthand + ", --" + f.Name
		}
		if arg != "" {
			name += " " + arg
		}
		b.WriteString(entry(name, flagColumn, usage+defaultOf(f), width))
	})
	return b.String()
}

// defaultOf returns what a flag is where it is not given, in brackets: "" where that says nothing.
func defaultOf(f *pflag.Flag) string {
	switch {
	case f.DefValue == "" || f.DefValue == "0" || f.DefValue == "0s" || f.DefValue == "-1" || f.DefValue == "[]" || f.DefValue == "false":
		return ""
	case f.Value.Type() == "string":
		return fmt.Sprintf(" (default %q)", f.DefValue)
	}
	return " (default " + f.DefValue + ")"
}

// entry returns a name with what it means, which begins in a column of its own: on the next
// line where the name reaches as far.
func entry(name string, column int, means string, width int) string {
	if len(name)+2 > column {
		name += "\n" + strings.Repeat(" ", column)
	} else {
		name += strings.Repeat(" ", column-len(name))
	}
	lines := string(terminal.Wrap(nil, strings.Repeat(" ", column)+means, width, column))
	return name + lines[column:] + "\n"
}

// Wrapped fills the paragraphs of text anew. A line that is indented begins one, unless it stands
// below the place where the line before it says what its first word means.
func Wrapped(text string, width int) string {
	var b strings.Builder
	paragraph, hang := "", 0
	flush := func() {
		if paragraph != "" {
			b.Write(append(terminal.Wrap(nil, paragraph, width, hang), '\n'))
		}
		paragraph = ""
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \n")
		words := strings.TrimLeft(line, " ")
		switch {
		case line == "":
			flush()
			b.WriteByte('\n')
		case paragraph != "" && len(line)-len(words) == hang:
			paragraph += " " + words
		default:
			flush()
			paragraph, hang = line, hanging(line)
		}
	}
	flush()
	return strings.TrimRight(b.String(), "\n")
}

// hanging returns where a line that is indented goes on: where its second column begins, which
// stands behind two blanks or a dash. Without one it does not: -1. Other lines go on at 0.
func hanging(line string) int {
	words := strings.TrimLeft(line, " ")
	if len(words) == len(line) {
		return 0
	}
	at := strings.Index(words, "  ")
	if strings.HasPrefix(words, "- ") {
		at = 1
	}
	if at < 0 {
		return -1
	}
	return len(line) - len(strings.TrimLeft(words[at:], " "))
}
