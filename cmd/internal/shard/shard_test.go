package shard

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestParse would catch a shard that does another's part. A Slurm array may begin anywhere and
// have a step, Kubernetes' index counts from 0, and numbers may be out of bounds.
func TestParse(t *testing.T) {
	for _, x := range []struct{ flag, env, want string }{
		{"", "", "0/0"},
		{"1/1", "", "1/1"},
		{"3/64", "SLURM_ARRAY_TASK_ID=9", "3/64"},
		{"auto", "SLURM_ARRAY_TASK_ID=0 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_COUNT=4", "1/4"},
		{"auto", "SLURM_ARRAY_TASK_ID=14 SLURM_ARRAY_TASK_MIN=10 SLURM_ARRAY_TASK_STEP=2 SLURM_ARRAY_TASK_COUNT=4", "3/4"},
		{"auto/9", "JOB_COMPLETION_INDEX=8", "9/9"},
		{"auto", "JOB_COMPLETION_INDEX=8 JOB_COMPLETIONS=9", "9/9"},
		{"auto", "JOB_COMPLETION_INDEX=8", `JOB_COMPLETIONS is "", need a number`},
		{"auto", "", "neither SLURM_ARRAY_TASK_ID nor JOB_COMPLETION_INDEX is set"},
		{"auto/9", "JOB_COMPLETION_INDEX=9", "shard 10 of 9, need 1 to 9"},
		{"0/4", "", "shard 0 of 4"},
		{"3", "", "need I/N"},
		{"a/4", "", "need I/N"},
		{"1/0", "", "no number of shards"},
	} {
		env := map[string]string{}
		for _, v := range strings.Fields(x.env) {
			k, val, _ := strings.Cut(v, "=")
			env[k] = val
		}
		p, err := Parse(x.flag, func(k string) string { return env[k] })
		got := p.String()
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, x.want) {
			t.Errorf("%q with %s: %s, want %s", x.flag, x.env, got, x.want)
		}
	}
}

// TestParts would catch parts that are joined although one is missing, there twice, cut short,
// changed or of another call, and a file of a part that failed.
func TestParts(t *testing.T) {
	dir := t.TempDir()
	put := func(i, of int, call, body string) string {
		p, err := NewPart(Spec{i, of}, Head{"text", call}, nil, dir)
		if err != nil {
			t.Fatal(err)
		}
		p.Write([]byte(body))
		if err := p.Close(nil); err != nil {
			t.Fatal(err)
		}
		return filepath.Join(dir, Spec{i, of}.Name())
	}
	joined := func(args ...string) string {
		var b bytes.Buffer
		if err := merge(args, "-", &b, map[string]Joiner{"text": Concatenate}, nil, nil); err != nil {
			return err.Error()
		}
		return b.String()
	}
	want := func(got, want string) {
		t.Helper()
		if got != want && (len(want) < 9 || !strings.Contains(got, want)) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	a := put(1, 3, "c", "a\n")
	b := put(2, 3, "c", "")
	want(joined(dir), "1 of 3 parts is missing: 3/3")
	c := put(3, 3, "c", "# c")
	want(joined(dir), "a\n# c")
	want(joined(c, a, b), "a\n# c")
	want(joined(c, a, b, a), "it is part 1/3, and so is")
	put(3, 3, "d", "c")
	want(joined(dir), "they are of different calls")

	whole, err := os.ReadFile(put(3, 3, "c", "0123456789"))
	if err != nil {
		t.Fatal(err)
	}
	for n := range whole {
		if err := os.WriteFile(c, whole[:n], 0o644); err != nil {
			t.Fatal(err)
		}
		if got := joined(dir); !strings.Contains(got, "cut short") && !strings.Contains(got, "no part") {
			t.Errorf("%d of %d bytes of a part: %q", n, len(whole), got)
		}
	}

	for n := range whole {
		x := bytes.Clone(whole)
		x[n] ^= 4
		if err := os.WriteFile(c, x, 0o644); err != nil {
			t.Fatal(err)
		}
		if got := joined(dir); strings.HasPrefix(got, "a\n") {
			t.Errorf("a part with byte %d changed is joined: %q", n, got)
		}
	}

	os.Remove(c)
	p, err := NewPart(Spec{3, 3}, Head{"text", "c"}, nil, dir)
	if err != nil {
		t.Fatal(err)
	}
	p.Close(os.ErrInvalid)
	if list, _ := os.ReadDir(dir); len(list) != 2 {
		t.Errorf("a part that failed leaves a file: %v", list)
	}
}
