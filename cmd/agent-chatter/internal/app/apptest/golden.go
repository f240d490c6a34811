package apptest

import (
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// Golden compares a text with a golden file. With -update it rewrites the file.
func Golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	compare(t, path, string(want), got)
}

// GoldenStart compares a text with the start of a golden file.
func GoldenStart(t *testing.T, path, got string) {
	t.Helper()
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	compare(t, path, string(want[:min(len(want), len(got))]), got)
}

func compare(t *testing.T, path, want, got string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s differs; to accept the change, run the test with -update (-want +got):\n%s", path, diff)
	}
}
