package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// recipeFiles is the command of docs/recipes.md that makes the recordings of its recipes.
const recipeFiles = "RECIPES=/tmp/recipes go test ./cmd/ptdecode -run TestRecipeFiles -count=1"

// TestRecipeFiles makes in the folder RECIPES, or in one of its own, the recordings that the
// recipes take. It would catch a page that does not say how a reader comes by them, and a
// folder in which one is missing.
func TestRecipeFiles(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "recipes.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), "\n"+recipeFiles+"\n") {
		t.Errorf("docs/recipes.md does not have the command %s", recipeFiles)
	}
	dir := os.Getenv("RECIPES")
	if dir == "" {
		dir = t.TempDir()
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) > 0 {
		t.Fatalf("%s: need a folder that is empty, or none (%v)", dir, err)
	}
	t.Chdir(dir)
	docFiles(t, "docs/recipes.md")
	for _, name := range []string{"work.tar.zst", "prog.tar.zst", "vmlinux", "board", "unit.bin", "host.pt", "host.bin", "guest.data"} {
		if !strings.Contains(string(page), name) {
			t.Errorf("no recipe takes %s", name)
		}
		if _, err := os.Stat(name); err != nil {
			t.Error(err)
		}
	}
}
