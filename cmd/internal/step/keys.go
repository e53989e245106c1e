package step

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/term"

	"github.com/ptdecode/ptdecode/decoder"
)

// run takes keys until they end.
func (w *stepper) run(ctx context.Context) error {
	in := w.host.In
	if f, ok := in.(*os.File); ok && !w.asJSON && w.host.Screen() && term.IsTerminal(int(f.Fd())) {
		return w.terminal(ctx, f)
	}
	if w.said != "" {
		w.host.Say("%s", w.said)
	}
	if err := w.show(w.out); err != nil {
		return err
	}
	lines := bufio.NewScanner(in)
	for w.out.Flush() == nil && lines.Scan() && ctx.Err() == nil { // whoever types sees where each line led
		line := strings.TrimSpace(lines.Text())
		if line == "q" {
			break
		}
		if line == "" || line[0] == '#' {
			continue
		}
		old := w.at.place()
		said, err := w.do(ctx, line)
		if err != nil {
			return err
		}
		if err := w.answer(line, said, w.at.place() != old); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := w.out.Flush(); err != nil {
		return err
	}
	return lines.Err()
}

// answer prints where a line led, and what there is to say of it.
func (w *stepper) answer(line, said string, moved bool) error {
	switch {
	case w.asJSON && said != "":
		w.host.Say("%s", said)
	case !w.asJSON && said != "":
		fmt.Fprintf(w.out, "\n> %s\n%s\n", line, said)
	case !w.asJSON:
		fmt.Fprintf(w.out, "\n> %s\n", line)
	}
	if said != "" && !moved {
		return nil
	}
	return w.show(w.out)
}

// do does what a line says, and returns what there is to say of it.
func (w *stepper) do(ctx context.Context, line string) (said string, err error) {
	n := 1
	digits := len(line) - len(strings.TrimLeft(line, "0123456789"))
	if digits > 0 {
		if n, err = strconv.Atoi(line[:digits]); err != nil || n > 1_000_000_000 {
			return fmt.Sprintf("%s is too often", line[:digits]), nil
		}
	}
	key, arg, _ := strings.Cut(strings.TrimSpace(line[digits:]), " ")
	arg = strings.TrimSpace(arg)
	switch key {
	case "g", "poke", "cpu":
		return w.leap(ctx, key, arg)
	case "?":
		return keyHelp, nil
	case "n", "p", "o", "c", "C", "k", "K":
	default:
		return fmt.Sprintf("%q is no key; ? and --help list them", key), nil
	}
	if arg != "" {
		return fmt.Sprintf("%s takes nothing behind it", key), nil
	}
	for range n {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		ok, err := w.move(key)
		if err != nil {
			return "", err
		}
		if !ok {
			return w.noMore(key), nil
		}
	}
	return "", nil
}

// move moves by one key; false where there is nothing to move to.
func (w *stepper) move(key string) (bool, error) {
	c := &w.at
	switch key {
	case "n":
		return c.next()
	case "p":
		return c.previous()
	case "o":
		return c.over()
	case "c", "C":
		return c.toCall(key == "C")
	}
	return c.toward(key == "K", c.atPoke)
}

// noMore says why a key did not move.
func (w *stepper) noMore(key string) string {
	switch key {
	case "n":
		if slices.ContainsFunc(w.at.tail, func(n decoder.Note) bool { return n.Kind == decoder.NoteGap }) {
			return "a gap follows, and the trace ends with it"
		}
		return "the trace ends here"
	case "p":
		return "the trace begins here"
	case "o":
		return "the trace does not show the return of the call"
	case "c", "C":
		return "no further call"
	}
	return "no further change to the code that was executed"
}

// leap goes elsewhere.
func (w *stepper) leap(ctx context.Context, key, arg string) (said string, err error) {
	stream, time := w.at.stream, uint64(0)
	switch key {
	case "g":
		if time, err = w.host.Time(w.s, arg); err != nil {
			return err.Error(), nil
		}
	case "poke":
		n, err := strconv.Atoi(arg)
		if err != nil {
			return fmt.Sprintf("poke %s: need the number of a change", arg), nil
		}
		k, err := poke(w.at.of, n)
		if err != nil {
			return "poke " + err.Error(), nil
		}
		time = k.Time
	case "cpu":
		only, err := w.streams(arg, "")
		if !strings.Contains(arg, "@") { // of the host
			only = slices.DeleteFunc(slices.Clone(only), func(i int) bool { return w.s.Streams()[i].Guest != w.s.Meta().Guest })
		}
		if err != nil || len(only) != 1 || !w.s.Streams()[only[0]].Executes() {
			return fmt.Sprintf("cpu %s: no trace of it", arg), nil
		}
		stream = only[0]
		if x, ok := w.at.here(); ok {
			time = x.stamp.Time.Lo
		}
	}
	old := w.at
	if err := w.goTo(ctx, stream, time); err != nil {
		w.at = old
		return err.Error(), ctx.Err()
	}
	return w.outside(time), nil
}

// terminal takes keys from a terminal, and draws a screen for each.
func (w *stepper) terminal(ctx context.Context, f *os.File) error {
	old, err := term.MakeRaw(int(f.Fd()))
	if err != nil {
		return err
	}
	defer func() { _ = term.Restore(int(f.Fd()), old) }()
	keys := bufio.NewReader(f)
	said, digits := strings.TrimPrefix(w.said+"; ? lists the keys, q ends", "; "), ""
	for {
		if err := w.draw(said + digits); err != nil {
			return err
		}
		said = ""
		key, err := readKey(keys)
		switch {
		case err == io.EOF, key == "q", key == "\x03", key == "\x04":
			_, err := io.WriteString(w.host.Out, "\r\n")
			return err
		case err != nil:
			return err
		case len(key) == 1 && strings.Contains("0123456789", key):
			digits += key
			continue
		case key == "?":
			said = keyHelp
			continue
		case key == "g" || key == ":":
			if key, err = w.ask(keys, map[string]string{"g": "g ", ":": ""}[key]); err != nil {
				return err
			}
		}
		if key != "" {
			if said, err = w.do(ctx, digits+key); err != nil {
				return err
			}
		}
		digits = ""
	}
}

// draw draws the screen anew.
func (w *stepper) draw(said string) error {
	w.out.WriteString("\x1b[H\x1b[2J")
	var b strings.Builder
	if err := w.show(&b); err != nil {
		return err
	}
	if said != "" {
		b.WriteString("\n" + said + "\n")
	}
	w.out.WriteString(strings.ReplaceAll(b.String(), "\n", "\r\n"))
	return w.out.Flush()
}

// readKey reads a key. The arrows are those of the same direction.
func readKey(in *bufio.Reader) (string, error) {
	c, err := in.ReadByte()
	if err != nil {
		return "", err
	}
	if c == '\x1b' && in.Buffered() >= 2 {
		seq := make([]byte, 2)
		if _, err := io.ReadFull(in, seq); err != nil {
			return "", err
		}
		return map[string]string{"[A": "p", "[D": "p", "[B": "n", "[C": "n"}[string(seq)], nil
	}
	if c == ' ' || c == '\r' {
		return "n", nil
	}
	return string(rune(c)), nil
}

// ask reads a line that begins with some text.
func (w *stepper) ask(in *bufio.Reader, begin string) (string, error) {
	fmt.Fprintf(w.out, "\r\n:%s", begin)
	line := begin
	for {
		if err := w.out.Flush(); err != nil {
			return "", err
		}
		c, err := in.ReadByte()
		switch {
		case err != nil:
			return "", err
		case c == '\r' || c == '\n':
			return strings.TrimSpace(line), nil
		case c == '\x1b' || c == '\x03':
			return "", nil
		case c == '\x7f' || c == '\b':
			if len(line) > 0 {
				line = line[:len(line)-1]
				w.out.WriteString("\b \b")
			}
		case c >= ' ':
			line += string(rune(c))
			w.out.WriteByte(c)
		}
	}
}
