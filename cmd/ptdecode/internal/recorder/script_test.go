//go:build unix

package recorder

import (
	"bufio"
	"context"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// The scripts of testdata/script run Run as a process, on a machine whose files lie in
// $WORK/root, with a perf that does what the environment says. They have these commands
// besides those of testscript:
//
//	record ARGS: runs it. After "!" it must not exit 0.
//	code N: the last exit code is N.
//	await FILE: waits until the file is there.

// TestMain is perf, or Run, where a script runs them.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"perf": fakePerf, "recorder": runRecorder})
}

// runRecorder is the process that scripts call recorder.
func runRecorder() {
	say := func(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
	args, dry := os.Args[1:], false
	if args[0] == "--dry-run" {
		args, dry = args[1:], true
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	whole, err := Run(ctx, Config{
		FS: os.DirFS(os.Getenv("ROOT")), Perf: os.Getenv("PERF"), Args: args, DryRun: dry, In: os.Stdin, Out: os.Stdout, Errs: os.Stderr,
		Say: say, Hint: func(format string, args ...any) { say("hint: "+format, args...) },
	})
	switch {
	case err != nil:
		say("%v", err)
		os.Exit(1)
	case !whole:
		os.Exit(3)
	}
}

// fakePerf is a perf whose records are those of one change to the kernel's code.
func fakePerf() {
	if os.Args[1] == "version" {
		fmt.Println("perf version 6.12.1")
		return
	}
	mustDo := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(254)
		}
	}
	fmt.Fprintln(os.Stderr, os.Getenv("PERF_SAYS"))
	a := parseArgs(os.Args[2:])
	if a.output == "-" { // breakpoints are tried
		if room, err := strconv.Atoi(os.Getenv("PERF_BREAKS")); err == nil && len(a.events) > room {
			fmt.Fprintln(os.Stderr, "No space left on device")
			os.Exit(255)
		}
		if os.Getenv("PERF_DOES") == "slow" {
			mustDo(os.WriteFile("trying", nil, 0o600))
			time.Sleep(time.Minute)
		}
		return
	}
	if os.Getenv("PERF_DOES") == "slow" && len(a.command) > 0 {
		mustDo(os.WriteFile("running", nil, 0o600))
	}
	if os.Getenv("PERF_DOES") == "nothing" {
		os.Exit(255)
	}
	if at := slices.IndexFunc(os.Args, func(s string) bool { return strings.HasPrefix(s, "--control=fifo:") }); at > 0 {
		mustDo(obey(strings.TrimPrefix(os.Args[at], "--control=fifo:"), a.command))
	}
	root, data := os.Getenv("ROOT"), filepath.Join(a.output, "data")
	dir := filepath.Join(a.output, earlyDir)
	if !a.has["kcore"] { // perf writes a file, and copies nothing
		data, dir = a.output, filepath.Join(os.TempDir(), earlyDir)
	}
	mustDo(os.MkdirAll(dir, 0o700))
	for _, name := range []string{"kcore", "kallsyms", "modules"} {
		b, err := os.ReadFile(filepath.Join(root, "proc", name))
		mustDo(err)
		mustDo(os.WriteFile(filepath.Join(dir, name), b, 0o600))
	}
	write := func() { // the change, and what else comes meanwhile
		mustDo(os.WriteFile(data, pokeFile(), 0o600))
		mustDo(layOut(filepath.Join(root, "proc"), os.DirFS(filepath.Join(root, "after"))))
	}
	ended := make(chan os.Signal, 4)
	signal.Notify(ended, handedOn()...)
	switch os.Getenv("PERF_DOES") {
	case "wait": // for signals, and tells of each
		mustDo(os.WriteFile("started", nil, 0o600))
		for {
			select {
			case s := <-ended:
				fmt.Fprintln(os.Stderr, "perf got", s)
				if ends(s) {
					write()
					signal.Reset(s)
					mustDo(syscall.Kill(os.Getpid(), s.(syscall.Signal)))
				}
			case <-time.After(time.Minute):
				os.Exit(253)
			}
		}
	case "die":
		data := pokeFile()
		copy(data[48:], make([]byte, 8)) // the size of the records
		mustDo(os.WriteFile(filepath.Join(a.output, "data"), data, 0o600))
		mustDo(syscall.Kill(os.Getpid(), syscall.SIGKILL))
	case "full": // the disk, for all that comes later
		write()
		mustDo(os.Mkdir(filepath.Join(a.output, lateDir), 0o700))
		mustDo(os.Symlink("/dev/full", filepath.Join(a.output, lateDir, "kcore.part")))
	default:
		write()
	}
	code, _ := strconv.Atoi(os.Getenv("PERF_CODE"))
	os.Exit(code)
}

// obey does what perf is told through its FIFOs, up to enable. The command runs meanwhile.
func obey(fifos string, command []string) error {
	control, ack, _ := strings.Cut(fifos, ",")
	in, err := os.OpenFile(control, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	out, err := os.OpenFile(ack, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	cmd := exec.Command(command[0], command[1:]...)
	if err := cmd.Start(); err != nil {
		return err
	}
	for lines := bufio.NewScanner(in); lines.Scan(); {
		if lines.Text() == "enable" {
			if _, err := os.Stat("ran"); err == nil {
				return errors.New("the command did not wait")
			}
		}
		if _, err := out.WriteString("ack\n\x00"); err != nil {
			return err
		}
		if lines.Text() == "enable" {
			return cmd.Wait()
		}
	}
	return io.ErrUnexpectedEOF
}

// pokeFile is a perf.data with one event, dummy, that asks for TEXT_POKE records, and
// one of these: the RET at the code's end becomes an INT3 (include/uapi/linux/perf_event.h,
// tools/perf/Documentation/perf.data-file-format.txt, v6.12).
func pokeFile() []byte {
	le := binary.LittleEndian
	fields := func(list ...any) (b []byte) {
		for _, f := range list {
			b, _ = binary.Append(b, le, f)
		}
		return b
	}
	const head, attr = 104, 128
	const tid, sampleTime, idAll, textPoke = 1 << 1, 1 << 2, 1 << 18, 1 << 33
	one := make([]byte, attr)
	copy(one, fields(uint32(1), uint32(attr), uint64(9), uint64(1), uint64(tid|sampleTime), uint64(0), uint64(idAll|textPoke)))
	poke := fields(uint64(0xffffffff81000fff), uint16(1), uint16(1), []byte{0xc3, 0xcc, 0, 0}, uint32(1), uint32(1), uint64(1e9))
	record := fields(uint32(20), uint16(1), uint16(8+len(poke)), poke)
	return fields([]byte("PERFILE2"), uint64(head), uint64(attr+16), uint64(head), uint64(attr+16), uint64(head+attr+16), uint64(len(record)),
		uint64(0), uint64(0), make([]byte, 32), one, uint64(0), uint64(0), record)
}

// layOut writes a machine's files below dir.
func layOut(dir string, files fs.FS) error {
	return fs.WalkDir(files, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		to := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return err
		}
		return os.WriteFile(to, b, 0o600)
	})
}

// exitCode is the key of a script's last exit code.
type exitCode struct{}

// TestScripts runs the scripts. What each would catch stands in its first comment.
func TestScripts(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("perf is Linux's; the scripts need its signals and /dev/full")
	}
	after := func(names ...string) []byte {
		code := make([]byte, 0x2000)
		code[0xfff], code[0x1000] = 0xcc, 0x90
		return coreOf(t, elf.EM_X86_64, 0xffffffff81000000, code)
	}()
	arm := armFiles(t)
	testscript.Run(t, testscript.Params{
		Dir:                "testdata/script",
		RequireUniqueNames: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("ROOT", filepath.Join(e.WorkDir, "root"))
			e.Setenv("PERF", "perf")
			e.Values[exitCode{}] = new(int)
			if err := layOut(filepath.Join(e.WorkDir, "arm"), arm); err != nil {
				return err
			}
			if err := layOut(filepath.Join(e.WorkDir, "root"), machineFiles(t)); err != nil {
				return err
			}
			to := filepath.Join(e.WorkDir, "root", "after")
			if err := os.MkdirAll(to, 0o700); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(to, "kcore"), after, 0o600)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"record": func(ts *testscript.TestScript, neg bool, args []string) {
				code := 0
				var exit *exec.ExitError
				if err := ts.Exec("recorder", args...); asExit(err, &exit) {
					code = exit.ExitCode()
				} else {
					ts.Check(err)
				}
				*ts.Value(exitCode{}).(*int) = code
				if (code != 0) != neg {
					ts.Fatalf("exit code %d", code)
				}
			},
			"code": func(ts *testscript.TestScript, _ bool, args []string) {
				if got := strconv.Itoa(*ts.Value(exitCode{}).(*int)); got != args[0] {
					ts.Fatalf("exit code %s, want %s", got, args[0])
				}
			},
			"await": func(ts *testscript.TestScript, _ bool, args []string) {
				for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
					if _, err := os.Stat(ts.MkAbs(args[0])); err == nil {
						return
					}
				}
				ts.Fatalf("%s does not come", args[0])
			},
		},
	})
}

// asExit reports whether err is a process's that did not exit 0.
func asExit(err error, exit **exec.ExitError) bool {
	e, ok := err.(*exec.ExitError)
	*exit = e
	return ok
}
