package main

import (
	"fmt"

	"github.com/ptdecode/ptdecode/cmd/internal/calls"
	"github.com/ptdecode/ptdecode/cmd/internal/diff"
	"github.com/ptdecode/ptdecode/cmd/internal/findings"
	"github.com/ptdecode/ptdecode/cmd/internal/gist"
	"github.com/ptdecode/ptdecode/cmd/internal/hot"
	"github.com/ptdecode/ptdecode/cmd/internal/step"
	"github.com/ptdecode/ptdecode/cmd/internal/story"
	"github.com/ptdecode/ptdecode/cmd/ptdecode/internal/output"
	"github.com/ptdecode/ptdecode/cmd/ptdecode/internal/schema"
	"github.com/ptdecode/ptdecode/cmd/ptdecode/internal/summary"
)

// schemas returns the schema of each type of object that a verb prints, by that type. The
// verbs that count have types of their own by the same names: theirs stand under
// VERB-TYPE. docs writes them to docs/formats/json-schema, and the tests hold every output
// against them.
func schemas() map[string]*schema.Schema {
	objects := output.Objects()
	objects["poke"] = output.Object{Of: "pokes", Type: story.Poke{}}
	objects["learned"] = output.Object{Of: "pokes --learned", Type: story.Learned{}}
	objects["unlike"] = output.Object{Of: "pokes --learned", Type: story.Unlike{}}
	objects["difference"] = output.Object{Of: "diff", Type: diff.Difference{}}
	objects["stop"] = output.Object{Of: "step", Type: step.Stop{}}
	objects["summary"] = output.Object{Of: "summary", Type: gist.Object{}}
	objects["finding"] = output.Object{Of: "check", Type: findings.Finding{}}
	objects["doubt"] = output.Object{Of: "check", Type: findings.Flow{}}
	objects["info"] = output.Object{Of: "info", Type: summary.Info{}}
	out := map[string]*schema.Schema{}
	for typ, o := range objects {
		out[typ] = schema.Of(typ, describeObject(o.Of), o.Type)
	}
	for verb, types := range map[string]map[string]any{"calls": calls.Objects(), "hot": hot.Objects()} {
		for typ, v := range types {
			s := schema.Of(typ, describeObject(verb), v)
			s.ID = schema.Base + verb + "-" + typ + ".json"
			out[verb+"-"+typ] = s
		}
	}
	return out
}

// describeObject says of an object what all schemas say.
func describeObject(verb string) string {
	return fmt.Sprintf("An object of ptdecode %s -o jsonl; docs/formats/output.md says what its names mean. Times are ns. Readers must skip names that they do not know.", verb)
}
