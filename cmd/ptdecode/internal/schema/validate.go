package schema

import (
	"fmt"
	"math"
	"regexp"
	"slices"
)

// Validate returns what of v, as encoding/json reads it, the schema does not allow, ""
// where nothing. It is stricter than the schema: a name that is not in it is wrong.
func (s *Schema) Validate(v any) string { return s.wrong("", v) }

// wrong is Validate of the value at a path.
func (s *Schema) wrong(at string, v any) string {
	if len(s.Type) > 0 && !slices.ContainsFunc(s.Type, func(t string) bool { return is(t, v) }) {
		return fmt.Sprintf("%s: %v is none of %v", at, v, s.Type)
	}
	switch x := v.(type) {
	case string:
		switch {
		case s.Const != "" && x != s.Const, s.Enum != nil && !slices.Contains(s.Enum, x):
			return fmt.Sprintf("%s: %q is none of %v", at, x, append([]string{s.Const}, s.Enum...))
		case s.Pattern != "" && !matches(s.Pattern, x):
			return fmt.Sprintf("%s: %q does not match %s", at, x, s.Pattern)
		}
	case float64:
		if s.Minimum != nil && x < float64(*s.Minimum) {
			return fmt.Sprintf("%s: %v is too small", at, x)
		}
	case []any:
		if s.First != nil && len(x) != len(s.First) {
			return fmt.Sprintf("%s: %d items, want %d", at, len(x), len(s.First))
		}
		for i, e := range x {
			item := s.Items
			if s.First != nil {
				item = s.First[i]
			}
			if w := item.wrong(fmt.Sprintf("%s[%d]", at, i), e); w != "" {
				return w
			}
		}
	case map[string]any:
		return s.wrongObject(at, x)
	}
	return ""
}

// wrongObject is wrong for an object.
func (s *Schema) wrongObject(at string, x map[string]any) string {
	for _, name := range s.Required {
		if _, ok := x[name]; !ok {
			return fmt.Sprintf("%s: no %q", at, name)
		}
	}
	for name, v := range x {
		part := s.Properties[name]
		switch {
		case part == nil && s.Other != nil:
			part = s.Other
		case part == nil && s.Properties == nil:
			continue
		case part == nil:
			return fmt.Sprintf("%s: %q is not in the schema", at, name)
		}
		if w := part.wrong(at+"/"+name, v); w != "" {
			return w
		}
	}
	return ""
}

// is reports whether v is of a type of JSON.
func is(t string, v any) bool {
	switch x := v.(type) {
	case nil:
		return t == "null"
	case bool:
		return t == "boolean"
	case string:
		return t == "string"
	case float64:
		return t == "number" || t == "integer" && x == math.Trunc(x)
	case []any:
		return t == "array"
	}
	return t == "object"
}

// matches reports whether s matches one of the patterns.
func matches(pattern, s string) bool {
	for _, p := range []*regexp.Regexp{hex16(), hexBytes(), unknown()} {
		if p.String() == pattern {
			return p.MatchString(s)
		}
	}
	return false
}
