package hot

// Objects returns a value of the Go type of each type of object that the verb prints.
func Objects() map[string]any {
	return map[string]any{"function": entry{}, "block": entry{}, "edge": entry{}, "line": entry{}, "instruction": entry{}, "trap": entry{}}
}
