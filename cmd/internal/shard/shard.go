// Package shard is how a verb's work is shared out: which part a call does (--shard), the
// files that parts are written to, and the verb that joins them. docs/scale.md tells how it
// is used, docs/formats/parts.md what a part's file looks like.
package shard

import (
	"fmt"
	"strconv"
	"strings"
)

// Spec is the part that a call does: number I of Of, counted from 1. The zero value is
// all of the work.
type Spec struct{ I, Of int }

// Parse reads --shard: I/N, auto/N or auto. With auto the number comes from a Slurm array or
// from a Kubernetes indexed Job, by its environment. So does N where it is left out.
//
// Slurm: SLURM_ARRAY_TASK_ID, _COUNT, _MIN and _STEP (sbatch(1), "--array"; a step is not
// stated where it is 1). Kubernetes: JOB_COMPLETION_INDEX counts from 0 ("Indexed Job");
// the number of completions is not stated, so the manifest sets JOB_COMPLETIONS.
func Parse(s string, env func(string) string) (Spec, error) {
	if s == "" {
		return Spec{}, nil
	}
	number, of, hasOf := strings.Cut(s, "/")
	var p Spec
	var err error
	if hasOf {
		if p.Of, err = strconv.Atoi(of); err != nil || p.Of < 1 {
			return p, fmt.Errorf("%q: %q is no number of shards", s, of)
		}
	}
	if number != "auto" {
		if p.I, err = strconv.Atoi(number); err != nil || !hasOf {
			return p, fmt.Errorf("%q: need I/N, auto/N or auto", s)
		}
	} else if err := p.ask(s, env); err != nil {
		return p, err
	}
	if p.I < 1 || p.I > p.Of {
		return p, fmt.Errorf("%q: shard %d of %d, need 1 to %[3]d", s, p.I, p.Of)
	}
	return p, nil
}

// ask takes p's number, and where it is not set how many there are, from the environment.
func (p *Spec) ask(s string, env func(string) string) error {
	number := func(name string, otherwise int) (int, error) {
		v := env(name)
		if v == "" && otherwise >= 0 {
			return otherwise, nil
		}
		n, err := strconv.Atoi(v)
		if err != nil || n < 0 {
			return 0, fmt.Errorf("%q: the environment variable %s is %q, need a number", s, name, v)
		}
		return n, nil
	}
	id, lowest, step, count := "", 0, 1, ""
	var err error
	switch {
	case env("SLURM_ARRAY_TASK_ID") != "":
		id, count = "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT"
		if lowest, err = number("SLURM_ARRAY_TASK_MIN", 0); err != nil {
			return err
		}
		if step, err = number("SLURM_ARRAY_TASK_STEP", 1); err != nil {
			return err
		}
	case env("JOB_COMPLETION_INDEX") != "":
		id, count = "JOB_COMPLETION_INDEX", "JOB_COMPLETIONS"
	default:
		return fmt.Errorf("%q: neither SLURM_ARRAY_TASK_ID nor JOB_COMPLETION_INDEX is set; name the shard as I/N", s)
	}
	n, err := number(id, -1)
	if err != nil {
		return err
	}
	p.I = (n-lowest)/max(1, step) + 1
	if p.Of == 0 {
		p.Of, err = number(count, -1)
	}
	return err
}

// String is I/N.
func (p Spec) String() string { return fmt.Sprintf("%d/%d", p.I, p.Of) }

// Name is the name of the part's file in a directory of parts.
func (p Spec) Name() string { return fmt.Sprintf("part-%05d-of-%05d", p.I, p.Of) }
