package main

import "testing"

// must returns what ends t where it is given an error.
func must(t *testing.T) func(error) {
	return func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
}
