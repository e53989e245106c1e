// Package schema makes JSON schemas (draft 2020-12) of the Go types of the objects that
// the command prints. A field without omitempty is required. Its tag schema says more:
//
//	hex16    a string of 16 hexadecimal digits
//	hex      a string of two hexadecimal digits for each byte
//	verdict  how sure something is
//	span     an array of two: from, and until, which may be null
//	yes      the word yes
//	value    a string of 16 hexadecimal digits, or a number from 0 on
//	count    a number from 0 on, or the word unknown
package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Base is where the schemas have their names.
const Base = "https://ptdecode.dev/schema/"

// Schema is a schema, or a part of one.
type Schema struct {
	Draft       string             `json:"$schema,omitempty"`
	ID          string             `json:"$id,omitempty"`
	Title       string             `json:"title,omitempty"`
	Description string             `json:"description,omitempty"`
	Type        []string           `json:"type,omitempty"`
	Const       string             `json:"const,omitempty"`
	Enum        []string           `json:"enum,omitempty"`
	Pattern     string             `json:"pattern,omitempty"`
	Minimum     *int               `json:"minimum,omitempty"`
	First       []*Schema          `json:"prefixItems,omitempty"` // of an array, which has as many items
	Least       int                `json:"minItems,omitempty"`
	Most        int                `json:"maxItems,omitempty"`
	Items       *Schema            `json:"items,omitempty"`
	Properties  map[string]*Schema `json:"properties,omitempty"`
	Required    []string           `json:"required,omitempty"`
	Other       *Schema            `json:"additionalProperties,omitempty"` // of maps
}

// Of makes the schema of the objects of a type, which v is a value of. The type is the
// value of their name "type".
func Of(typ, description string, v any) *Schema {
	s := object(reflect.TypeOf(v))
	s.Draft, s.ID, s.Title = "https://json-schema.org/draft/2020-12/schema", Base+typ+".json", typ
	s.Description = description
	s.Properties["type"] = &Schema{Const: typ}
	if !slices.Contains(s.Required, "type") {
		s.Required = append([]string{"type"}, s.Required...)
	}
	return s
}

// Text renders the schema as a file.
func (s *Schema) Text() []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(s); err != nil {
		panic("schema: " + err.Error())
	}
	return b.Bytes()
}

// object makes the schema of a struct.
func object(t reflect.Type) *Schema {
	s := &Schema{Type: []string{"object"}, Properties: map[string]*Schema{}}
	s.add(t)
	return s
}

// add adds the fields of a struct.
func (s *Schema) add(t reflect.Type) {
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			s.add(f.Type)
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" || !f.IsExported() {
			continue
		}
		part := of(f.Type, f.Tag.Get("schema"))
		if f.Type.Kind() == reflect.Pointer && options == "" {
			part.Type = append(part.Type, "null")
		}
		s.Properties[name] = part
		if options == "" {
			s.Required = append(s.Required, name)
		}
	}
}

// The patterns of strings.
var (
	hex16    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("^[0-9a-f]{16}$") })
	hexBytes = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("^([0-9a-f]{2})*$") })
	unknown  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("^unknown$") })
)

// verdicts are the values of a verdict.
var verdicts = []string{"certain", "trace", "exception", "unconfirmed", "ambiguous"}

// of makes the schema of a value of a type, of which a tag says more.
func of(t reflect.Type, tag string) *Schema {
	if t.Kind() == reflect.Pointer {
		return of(t.Elem(), tag)
	}
	zero := 0
	switch t.Kind() {
	case reflect.Struct:
		return object(t)
	case reflect.Slice, reflect.Array:
		if tag == "span" && t.Elem().Kind() == reflect.Pointer {
			from, until := &Schema{Type: []string{"integer"}, Minimum: &zero}, &Schema{Type: []string{"integer", "null"}, Minimum: &zero}
			return &Schema{Type: []string{"array"}, First: []*Schema{from, until}, Least: 2, Most: 2}
		}
		items := of(t.Elem(), tag)
		if t.Elem().Kind() == reflect.Pointer {
			items.Type = append(items.Type, "null")
		}
		return &Schema{Type: []string{"array"}, Items: items}
	case reflect.Map:
		return &Schema{Type: []string{"object"}, Other: of(t.Elem(), tag)}
	case reflect.Bool:
		return &Schema{Type: []string{"boolean"}}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return &Schema{Type: []string{"integer"}}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return &Schema{Type: []string{"integer"}, Minimum: &zero}
	case reflect.Float32, reflect.Float64:
		return &Schema{Type: []string{"number"}}
	case reflect.Interface:
		switch tag { // a pattern is one of strings, a minimum one of numbers
		case "value":
			return &Schema{Type: []string{"string", "integer"}, Pattern: hex16().String(), Minimum: &zero}
		case "count":
			return &Schema{Type: []string{"integer", "string"}, Pattern: unknown().String(), Minimum: &zero}
		}
		return &Schema{}
	case reflect.String:
		return ofString(tag)
	}
	panic(fmt.Sprintf("schema: no schema of %v", t))
}

// ofString makes the schema of a string, of which a tag says more.
func ofString(tag string) *Schema {
	s := &Schema{Type: []string{"string"}}
	switch tag {
	case "hex16":
		s.Pattern = hex16().String()
	case "hex":
		s.Pattern = hexBytes().String()
	case "verdict":
		s.Enum = verdicts
	case "yes":
		s.Enum = []string{"yes"}
	}
	return s
}
