package snapshot

import "fmt"

// Problem is something wrong in a snapshot that can be left out: the rest of
// it is read.
type Problem struct {
	File string // the file that says so, relative to the snapshot's directory
	Line int    // in File, from 1; 0: none in particular
	What string // what is wrong
	Hint string // what to do about it
}

// String renders the problem without its hint: `trace.ini:7: what`.
func (p Problem) String() string {
	return p.place() + ": " + p.What
}

func (p Problem) place() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d", p.File, p.Line)
}

// maxProblems bounds the list of problems, and how many are of one file: a file
// of rubbish says no more than its first lines do.
const (
	maxProblems     = 1000
	maxFileProblems = 10
)

// problem notes what is wrong in a file.
func (s *Snapshot) problem(file string, line int, hint, format string, args ...any) {
	s.problems[file]++
	if s.problems[file] <= maxFileProblems && len(s.Problems) < maxProblems {
		s.Problems = append(s.Problems, Problem{file, line, fmt.Sprintf(format, args...), hint})
	}
}

// moreProblems tells of which files more is wrong than was noted, each behind
// its last.
func (s *Snapshot) moreProblems() {
	var all []Problem
	seen := map[string]int{}
	for _, p := range s.Problems {
		all = append(all, p)
		seen[p.File]++
		if n := s.problems[p.File]; seen[p.File] == maxFileProblems && n > maxFileProblems {
			all = append(all, Problem{p.File, 0, fmt.Sprintf("%d more things are wrong with it", n-maxFileProblems), "mend these first"})
		}
	}
	s.Problems = all
}
