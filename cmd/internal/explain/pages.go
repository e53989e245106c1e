package explain

import (
	_ "embed"
	"strings"
	"sync"
)

// The kinds of words that the output has a list of.
const (
	ofGap    = "reason of a gap"
	ofSure   = "verdict"
	ofDoubt  = "reason of doubt" // of what check counts as ambiguous
	ofTrap   = "kind of a trap"
	ofChange = "kind of a change"
	ofBranch = "kind of a branch"
	ofNote   = "note of the trace"
	ofWord   = "word" // of the glossary
)

// pagesText is the pages, by what they are of: a line "= KIND", and below it the words. A
// word stands at the front of a line. What it means is indented by a tab, and so is what to
// do about it, which begins with "Do: ", and other words behind "See: ".
//
//go:embed pages.txt
var pagesText string

// pages returns all pages, in their order.
var pages = sync.OnceValue(func() (list []Page) {
	of := ""
	var text *string // what lines are added to
	for line := range strings.Lines(pagesText) {
		line = strings.TrimSuffix(line, "\n")
		told, indented := strings.CutPrefix(line, "\t")
		kind, heading := strings.CutPrefix(line, "= ")
		do, toDo := strings.CutPrefix(told, "Do: ")
		see, others := strings.CutPrefix(told, "See: ")
		switch {
		case line == "":
		case heading:
			of = kind
		case !indented:
			list = append(list, Page{Word: line, Of: of})
			text = &list[len(list)-1].Means
		case toDo:
			text = &list[len(list)-1].Do
			*text = do
		case others:
			list[len(list)-1].See = strings.Split(see, ", ")
		case *text == "":
			*text = told
		default:
			*text += "\n" + told
		}
	}
	return list
})
