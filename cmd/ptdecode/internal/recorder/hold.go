package recorder

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Where perf cannot copy the kernel's code, ptdecode does it at the moment at which perf
// would: when all events are opened, since that changes code, and none records yet. perf
// starts with its events off (-D -1) and takes commands through a FIFO. The command to be
// recorded waits at another one (tools/perf/Documentation/perf-record.txt, --control, v6.12).

// held are the FIFOs of a perf that waits until the kernel's code is copied.
type held struct {
	control, ack, wait string
}

// heldIn returns the FIFOs in a recording's directory.
func heldIn(dir string) held {
	return held{filepath.Join(dir, "control"), filepath.Join(dir, "ack"), filepath.Join(dir, "wait")}
}

// options are what perf waits by.
func (h *held) options() []string {
	return []string{"-D", "-1", "--control=fifo:" + h.control + "," + h.ack}
}

// waiting returns a command that waits, and then is the one given.
func (h *held) waiting(list []string) []string {
	return append([]string{"sh", "-c", `read x <"$0" && exec "$@"`, h.wait}, list...)
}

// make makes the FIFOs and the directory.
func (h *held) make() error {
	if err := os.MkdirAll(filepath.Dir(h.wait), 0o700); err != nil {
		return err
	}
	for _, name := range []string{h.control, h.ack, h.wait} {
		if err := makeFIFO(name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// remove takes the FIFOs away.
func (h *held) remove() {
	for _, name := range []string{h.control, h.ack, h.wait} {
		os.Remove(name) // it may never have been made
	}
}

// errGone says that perf ended before it was told to record: what it said stands above.
var errGone = errors.New("perf ended before it recorded")

// copied waits until perf has opened its events, has the code copied, and lets events and
// command go. ended is closed when perf ends.
func (h *held) copied(ended <-chan struct{}, codeCopy func() error) error {
	control, err := os.OpenFile(h.control, os.O_RDWR, 0) // both ends: nothing blocks
	if err != nil {
		return err
	}
	defer control.Close()
	ack, err := os.OpenFile(h.ack, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer ack.Close()
	if err := order(control, ack, "ping", ended); err != nil {
		return err
	}
	if err := codeCopy(); err != nil {
		return err
	}
	if err := order(control, ack, "enable", ended); err != nil {
		return err
	}
	wait, err := os.OpenFile(h.wait, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if _, err := wait.WriteString("\n"); err != nil {
		wait.Close()
		return err
	}
	<-ended // what was written is lost when nobody has the FIFO open
	return wait.Close()
}

// order gives perf a command, and waits until it has done it.
func order(control, ack *os.File, command string, ended <-chan struct{}) error {
	if _, err := control.WriteString(command + "\n"); err != nil {
		return err
	}
	var said strings.Builder
	b := make([]byte, 64)
	for !strings.Contains(said.String(), "ack\n") {
		select {
		case <-ended:
			return errGone
		default:
		}
		if err := ack.SetReadDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
			return err
		}
		n, err := ack.Read(b)
		if said.Write(b[:n]); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		}
	}
	return nil
}
