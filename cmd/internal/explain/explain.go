// Package explain is the verb that explains what the output says: reasons of gaps,
// verdicts, kinds of traps and changes, and words. It is the manual of these, a page each.
package explain

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ptdecode/ptdecode/cmd/internal/filter"
	"github.com/ptdecode/ptdecode/decoder"
)

// Page is what there is to say of a word.
type Page struct {
	Word  string
	Of    string   // what it is: "reason of a gap", "verdict", "word", ...
	Means string   // lines, as they are printed
	Do    string   // what to do about it; "": nothing
	See   []string // other words
}

// New returns the verb.
func New() *cobra.Command {
	return &cobra.Command{
		Use:   "explain WORD",
		Short: "explain a word of the output: a reason of gaps, a verdict, a kind of trap or change",
		Long: `Explain a word that the output uses: the reason of a gap, a verdict, a kind of
traps, of changes to the code or of branches, or another word. Without a word it
lists all of them.`,
		Example: `  ptdecode explain mismatch
  ptdecode explain ambiguous window
  ptdecode explain                                  # which words there are`,
		ValidArgsFunction: func(_ *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			return Words(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, args []string) error { return run(c.OutOrStdout(), args, c.Root().Commands()) },
	}
}

// Words returns all words, in the order of the alphabet.
func Words() (list []string) {
	for _, p := range pages() {
		list = append(list, p.Word)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// run prints the pages of words, or the list of all. verbs have help of their own.
func run(w io.Writer, words []string, verbs []*cobra.Command) error {
	if len(words) == 0 {
		_, err := io.WriteString(w, contents())
		return err
	}
	if len(words) > 1 && len(found(strings.Join(words, " "))) > 0 {
		words = []string{strings.Join(words, " ")} // "tr strt"
	}
	var all []Page
	for _, word := range words {
		list := found(word)
		if i := slices.IndexFunc(verbs, func(v *cobra.Command) bool { return v.Runnable() && v.Name() == word }); len(list) == 0 && i >= 0 {
			list = []Page{{Word: word, Of: "verb", Means: "Use it to " + verbs[i].Short + ".", Do: "ptdecode " + word + " --help says all of it, with examples."}}
		}
		if len(list) == 0 {
			near := filter.Nearest(word, slices.Values(Words()))
			return &decoder.CallError{What: fmt.Sprintf("explain %s: no such word%s", word, near)}
		}
		all = append(all, list...)
	}
	for i := range all {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if _, err := io.WriteString(w, all[i].text()); err != nil {
			return err
		}
	}
	return nil
}

// found returns the pages of a word; one word may mean several things. As in the output, it
// may stand in parentheses or behind what it is of: (bp), payload cbr. Many of it will do: gaps.
func found(word string) (list []Page) {
	word = strings.TrimSuffix(strings.TrimPrefix(word, "("), ")")
	if of, detail, ok := strings.Cut(word, " "); ok && slices.Contains([]string{"context", "payload", "status"}, of) {
		word = detail
	}
	for _, one := range []string{word, strings.TrimSuffix(word, "s"), strings.TrimSuffix(word, "es")} {
		for _, p := range pages() {
			if strings.EqualFold(p.Word, one) {
				list = append(list, p)
			}
		}
		if len(list) > 0 {
			break
		}
	}
	return list
}

// text renders p.
func (p *Page) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s)\n\n", p.Word, p.Of)
	b.WriteString(wrapped(p.Means))
	if p.Do != "" {
		b.WriteString("\nWhat to do:\n\n" + wrapped(p.Do))
	}
	if len(p.See) > 0 {
		fmt.Fprintf(&b, "\nSee also: %s\n", strings.Join(p.See, ", "))
	}
	return b.String()
}

// wrapped breaks text into lines of 78 columns at most, two blanks in front. A line of text
// that is indented stays one.
func wrapped(text string) string {
	var b strings.Builder
	line := " "
	flush := func() {
		if line != " " {
			b.WriteString(line + "\n")
		}
		line = " "
	}
	for s := range strings.Lines(text) {
		if strings.HasPrefix(s, "  ") {
			flush()
			line += "  "
		}
		for _, w := range strings.Fields(s) {
			if len([]rune(line))+1+len([]rune(w)) > 78 {
				flush()
			}
			line += " " + w
		}
	}
	flush()
	return b.String()
}

// contents lists the words by what they are.
func contents() string {
	var b strings.Builder
	var kinds []string
	by := map[string][]string{}
	for _, p := range pages() {
		if by[p.Of] == nil {
			kinds = append(kinds, p.Of)
		}
		by[p.Of] = append(by[p.Of], p.Word)
	}
	for _, k := range kinds {
		fmt.Fprintf(&b, "%s:\n", strings.ToUpper(k[:1])+k[1:])
		line := " "
		for _, w := range by[k] {
			if len(line)+2+len(w) > 78 {
				b.WriteString(line + "\n")
				line = " "
			}
			line += " " + w + ","
		}
		b.WriteString(strings.TrimSuffix(line, ",") + "\n")
	}
	return b.String()
}

// WordsTopic is the help topic that explains the words of the output. It is no verb: it does nothing.
func WordsTopic() *cobra.Command {
	return &cobra.Command{Use: "words", Short: "what the words of the output mean", Long: wordList()}
}

// wordList is the words that are neither reasons, verdicts nor kinds, with what they mean.
func wordList() string {
	var b strings.Builder
	b.WriteString("What the words of the output mean. ptdecode explain WORD says more of one.\n\n")
	for _, p := range pages() {
		if p.Of != ofWord {
			continue
		}
		for i, line := range strings.Split(p.Means, "\n") {
			word := ""
			if i == 0 {
				word = p.Word
			}
			fmt.Fprintf(&b, "  %-11s %s\n", word, line)
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}
