package app

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestPathsOfJournals(t *testing.T) {
	for _, tt := range []struct {
		path                        string
		journal, archive, inArchive bool
	}{
		{"a/b.jsonl", true, false, false},
		{"a/b.jsonl.zst", true, true, false},
		{"a/archive/b.jsonl.zst", true, true, true},
		{"archive/b.jsonl", true, false, true},
		{"a/archive", false, false, false},
		{"a/b.zst", false, false, false},
		{"a/b.jsonl.bak", false, false, false},
		{"latest", false, false, false},
	} {
		if IsJournal(tt.path) != tt.journal || IsArchive(tt.path) != tt.archive || InArchive(tt.path) != tt.inArchive {
			t.Errorf("%s: journal %v, archive %v, in an archive %v", tt.path, IsJournal(tt.path), IsArchive(tt.path),
				InArchive(tt.path))
		}
		named := "id"
		if tt.journal {
			named = tt.path
		}
		if got := ByPath(tt.path).Name("id"); got != named {
			t.Errorf("%s is named %s, want %s", tt.path, got, named)
		}
	}
}

func TestDirectories(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	separator := string(filepath.Separator)
	for path, want := range map[string]bool{
		dir: true, dir + separator: true, file: false, filepath.Join(dir, "new"): false, filepath.Join(dir, "new") + separator: true,
	} {
		if got := IsDirectory(path); got != want {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
}

func TestElapsed(t *testing.T) {
	for _, tt := range []struct {
		d    time.Duration
		n    int
		unit string
	}{
		{-time.Hour, 0, ""}, {time.Minute - 1, 0, ""}, {time.Minute, 1, "minute"}, {time.Hour - 1, 59, "minute"},
		{time.Hour, 1, "hour"}, {24*time.Hour - 1, 23, "hour"}, {24 * time.Hour, 1, "day"}, {50 * time.Hour, 2, "day"},
	} {
		now := time.Now()
		if n, unit := Elapsed(now.Add(-tt.d), now); n != tt.n || unit != tt.unit {
			t.Errorf("%v: %d %s, want %d %s", tt.d, n, unit, tt.n, tt.unit)
		}
	}
}

func TestShortPathsBeginWithATilde(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	for path, want := range map[string]string{
		filepath.Join(home, "a", "b"): filepath.Join("~", "a", "b"), home: home, home + "s": home + "s",
		filepath.Join(home, "..", "a"): filepath.Join(home, "..", "a"), "": "", "a": "a",
	} {
		if got := ShortPath(path); got != want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
	t.Setenv("HOME", "")
	t.Setenv("USERPROFILE", "")
	if got := ShortPath("/a"); got != "/a" {
		t.Errorf("without a home: %q", got)
	}
}
