// Package manual prints the verbs' help, and makes the documents that follow from it: docs/cli.md
// and the manual pages.
package manual

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Pages returns the files, by name with slashes: cli.md and man/*.1.
func Pages(root *cobra.Command) map[string][]byte {
	files := map[string][]byte{"cli.md": cliPage(root)}
	for _, c := range slices.Concat([]*cobra.Command{root}, Verbs(root), topics(root)) {
		files["man/"+pageName(c)+".1"] = manPage(c)
	}
	return files
}

// Verbs returns the verbs of root without the hidden ones.
func Verbs(root *cobra.Command) (verbs []*cobra.Command) {
	for _, c := range root.Commands() {
		if !c.Hidden && c.Runnable() {
			verbs = append(verbs, c)
		}
	}
	return verbs
}

// topics returns what help explains besides the verbs of root.
func topics(root *cobra.Command) (list []*cobra.Command) {
	for _, c := range root.Commands() {
		if c.IsAdditionalHelpTopicCommand() {
			list = append(list, c)
		}
	}
	return list
}

// pageName is the name of a verb's manual page: ptdecode-flow.
func pageName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// long returns the description of a verb.
func long(c *cobra.Command) string {
	if c.Long != "" {
		return c.Long
	}
	return strings.ToUpper(c.Short[:1]) + c.Short[1:] + "."
}

// synopsis returns the line of usage.
func synopsis(c *cobra.Command) string {
	if c.IsAdditionalHelpTopicCommand() {
		return c.Parent().Name() + " help " + c.Name()
	}
	if c.HasParent() {
		return c.Parent().Use[:strings.IndexByte(c.Parent().Use+" ", ' ')] + " " + c.Use + " [FLAGS]"
	}
	return c.Use + " [FLAGS]"
}

// cliPage returns docs/cli.md.
func cliPage(root *cobra.Command) []byte {
	var b bytes.Buffer
	b.WriteString("# The command\n\n<!-- made by go generate from cmd/ptdecode; changes here are lost -->\n\n")
	fmt.Fprintf(&b, "```\n%s\n```\n\n%s\n\n```\n%s\n```\n\n", synopsis(root), mdText(long(root)), outdent(root.Example))
	b.WriteString("| verb | does |\n|---|---|\n")
	for _, c := range Verbs(root) {
		fmt.Fprintf(&b, "| [%s](#ptdecode-%s) | %s |\n", c.Name(), c.Name(), c.Short)
	}
	b.WriteString("\n## Flags of all verbs\n\nThey say what to read and how.\n\n```\n" + FlagUsages(root.PersistentFlags(), Columns) + "```\n")
	for _, c := range Verbs(root) {
		fmt.Fprintf(&b, "\n## ptdecode %s\n\n```\n%s\n```\n\n%s\n", c.Name(), synopsis(c), mdText(long(c)))
		if c.Example != "" {
			fmt.Fprintf(&b, "\n```\n%s\n```\n", outdent(c.Example))
		}
		if f := Flags(c); f.HasAvailableFlags() {
			fmt.Fprintf(&b, "\n```\n%s```\n", FlagUsages(f, Columns))
		}
	}
	for _, c := range topics(root) {
		fmt.Fprintf(&b, "\n## %s\n\n```\n%s\n```\n\n%s\n", synopsis(c), synopsis(c), mdText(long(c)))
	}
	return b.Bytes()
}

// Flags returns the flags of c that not all verbs have, but for --help.
func Flags(c *cobra.Command) *pflag.FlagSet {
	own := pflag.NewFlagSet(c.Name(), pflag.ContinueOnError)
	c.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" && f.Name != "version" {
			own.AddFlag(f)
		}
	})
	return own
}

// outdent takes two blanks from the front of each line.
func outdent(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], "  ")
	}
	return strings.Join(lines, "\n")
}

// mdText puts indented lines between fences.
func mdText(s string) string {
	var b strings.Builder
	fenced := false
	for line := range strings.Lines(s + "\n") {
		if in := strings.HasPrefix(line, "  "); in != fenced {
			fenced = in
			if in && !strings.HasSuffix(b.String(), "\n\n") {
				b.WriteString("\n")
			}
			b.WriteString("```\n")
		}
		b.WriteString(strings.TrimPrefix(line, "  "))
	}
	if fenced {
		b.WriteString("```\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

// manPage returns a verb's manual page, section 1 (man-pages(7)).
func manPage(c *cobra.Command) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, ".TH %s 1 \"\" \"ptdecode\" \"User Commands\"\n", strings.ToUpper(pageName(c)))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(pageName(c)), roff(c.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n", roff(synopsis(c)))
	b.WriteString(".SH DESCRIPTION\n")
	roffText(&b, long(c))
	if !c.HasParent() {
		b.WriteString(".SH VERBS\n")
		for _, v := range Verbs(c) {
			fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(v.Name()), roff(v.Short))
		}
		b.WriteString(".SH OPTIONS\n")
		roffFlags(&b, c.PersistentFlags())
	} else if f := Flags(c); f.HasAvailableFlags() {
		b.WriteString(".SH OPTIONS\n")
		roffFlags(&b, f)
		b.WriteString(".PP\nThe options that say what to read are in\n.BR ptdecode (1).\n")
	}
	if c.Example != "" {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s\n.fi\n", roff(outdent(c.Example)))
	}
	b.WriteString(".SH SEE ALSO\n")
	if c.HasParent() {
		b.WriteString(".BR ptdecode (1),\n")
	}
	b.WriteString(".BR perf\\-record (1),\n.BR perf\\-intel\\-pt (1)\n")
	return b.Bytes()
}

// roffFlags appends flags, each as a paragraph.
func roffFlags(b *bytes.Buffer, flags *pflag.FlagSet) {
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		arg, usage := pflag.UnquoteUsage(f)
		b.WriteString(".TP\n")
		if f.Shorthand != "" {
			fmt.Fprintf(b, "\\fB\\-%s\\fR, ", f.Shorthand)
		}
		fmt.Fprintf(b, "\\fB\\-\\-%s\\fR", roff(f.Name))
		if arg != "" {
			fmt.Fprintf(b, " \\fI%s\\fR", roff(arg))
		}
		fmt.Fprintf(b, "\n%s\n", roff(usage+defaultOf(f)))
	})
}

// roffText appends paragraphs; indented lines stay as they are.
func roffText(b *bytes.Buffer, s string) {
	asIs := false
	for line := range strings.Lines(s + "\n") {
		line = strings.TrimSuffix(line, "\n")
		if in := strings.HasPrefix(line, "  "); in != asIs {
			asIs = in
			b.WriteString(map[bool]string{true: ".nf\n", false: ".fi\n"}[in])
		}
		if line == "" {
			b.WriteString(".PP\n")
			continue
		}
		b.WriteString(roff(line) + "\n")
	}
	if asIs {
		b.WriteString(".fi\n")
	}
}

// roff escapes text for troff (groff(7), "Escape sequences").
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s)
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}
