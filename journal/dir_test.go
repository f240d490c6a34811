package journal_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal/propertytest"
	"github.com/oklog/ulid/v2"
	"pgregory.net/rapid"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/trash"
)

// An id from outside, such as a command line, must not lead out of the directory.
func TestPathsAreNoIDs(t *testing.T) {
	for _, id := range []string{"", ".", "..", "../x", "a/b", `a\b`, "a\x00b"} {
		dir := newDir(t)
		must(t, os.Mkdir(dir.Path(), 0o700))
		_, statErr := dir.Stat(id)
		_, createErr := dir.Create(id)
		_, openErr := dir.Open(t.Context(), id)
		_, readerErr := dir.Reader(id, journal.Position{})
		_, repairErr := dir.Repair(t.Context(), id, nil, false)
		_, sealErr := dir.Seal(t.Context(), id)
		var followErr error
		for _, followErr = range dir.Follow(t.Context(), id, journal.Position{}) {
		}
		for name, err := range map[string]error{
			"Stat": statErr, "Create": createErr, "Open": openErr, "Reader": readerErr, "Repair": repairErr,
			"Seal": sealErr, "Follow": followErr,
			"Check": dir.Check(id), "Archive": dir.Archive(t.Context(), id), "Trash": trash.Of(dir).Move(t.Context(), id),
			"RecordTrashTime": trash.Of(dir).RecordTime(id), "Restore": trash.Of(dir).Restore(t.Context(), id), "Purge": trash.Of(dir).Purge(id),
		} {
			if err == nil || !strings.Contains(err.Error(), "not a file name") {
				t.Errorf("%s(%q): %v", name, id, err)
			}
		}
		if writer := dir.Writer(id); writer != (journal.Holder{}) {
			t.Errorf("Writer(%q): %+v", id, writer)
		}
		if names := filesIn(t, filepath.Dir(dir.Path())); len(names) > 0 {
			t.Errorf("%q: files %v were created", id, names)
		}
	}
}

func TestDirNames(t *testing.T) {
	long := strings.Repeat("a", 300)
	for id, want := range map[string]string{
		"dev":         "dev",
		"team_1-a":    "team_1-a",
		"-":           "-",
		"az09":        "az09",
		"AZ":          "AZ-*",
		"@[`{/:":      "______-*", // next to the letters and digits
		long[:64]:     long[:64],
		long[:65]:     long[:48] + "-*",
		long:          long[:48] + "-*",
		"":            "-*",
		"Dev":         "Dev-*",
		"DEV":         "DEV-*",
		"con":         "con-*",
		"lpt1":        "lpt1-*",
		"com":         "com",
		"x-0123abcd":  "x-0123abcd-*",
		"x-0123abcg":  "x-0123abcg",
		"..":          "__-*",
		"../../etc":   "______etc-*",
		`a\b:c`:       "a_b_c-*",
		"a\x00b":      "a_b-*",
		"团队A":         "__A-*",
		"团组A":         "__A-*",
		"caf\u00e9":   "caf_-*",
		"cafe\u0301":  "cafe_-*",
		"\xff\xfe":    "__-*",
		"dev ":        "dev_-*",
		"dev\n":       "dev_-*",
		"archive.tmp": "archive_tmp-*",
	} {
		got := journal.DirName(id)
		if prefix, hashed := strings.CutSuffix(want, "*"); got != want &&
			!(hashed && strings.HasPrefix(got, prefix) && len(got) == len(prefix)+8) {
			t.Errorf("%q is called %q, want %q", id, got, want)
		}
	}
	if a, b := journal.DirName("团队A"), journal.DirName("团组A"); a == b {
		t.Error("two teams share", a)
	}
}

func TestDirNamesAreUnique(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		any := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-zA-Z0-9_-]{0,70}`),
			rapid.StringMatching(`[a-cA-C]{0,3}-[0-9a-f]{8}`))
		a, b := any.Draw(t, "a"), any.Draw(t, "b")
		nameA, nameB := journal.DirName(a), journal.DirName(b)
		if a != b && strings.EqualFold(nameA, nameB) {
			t.Errorf("%q and %q are called %q and %q", a, b, nameA, nameB)
		}
		if filepath.Base(nameA) != nameA || len(nameA) > 64 || nameA == "." || nameA == ".." {
			t.Errorf("%q is called %q", a, nameA)
		}
		if c := journal.DirName(nameA); a != nameA && c == nameA {
			t.Errorf("%q and %q share %q", a, nameA, c)
		}
	})
}

func TestListIgnoresOtherFiles(t *testing.T) {
	dir := newDir(t)
	if infos, err := dir.List(t.Context()); err != nil || len(infos) > 0 {
		t.Errorf("a directory that does not exist: %v, %v", infos, err)
	}
	first, second, third := newJournal(t, dir, 0), newJournal(t, dir, 0), newJournal(t, dir, 0)
	must(t, dir.Archive(t.Context(), second))
	must(t, trash.Of(dir).Move(t.Context(), third))
	for _, name := range []string{
		"sessions.json", "notes.jsonl", strings.ToLower(first) + ".jsonl", first + ".jsonl.bak", first + ".jsonl~",
		first[:25] + ".jsonl", "." + first + ".jsonl", first + ".checkpoint.json", first + "x.jsonl",
		"8" + first[1:] + ".jsonl", // more than 128 bits
		filepath.Join("archive", first+".jsonl"), filepath.Join("archive", "notes.jsonl.zst"),
	} {
		writeFile(t, filepath.Join(dir.Path(), name), []byte("{}\n"))
	}
	directory := dir.NewID()
	must(t, os.Mkdir(filepath.Join(dir.Path(), directory+".jsonl"), 0o700))

	infos, err := dir.List(t.Context())
	must(t, err)
	var got []string
	for _, info := range infos {
		got = append(got, info.ID)
		stat, err := dir.Stat(info.ID)
		if err != nil || stat != info {
			t.Errorf("Stat says %+v, %v; List %+v", stat, err, info)
		}
		if info.Archived != (info.ID == second) {
			t.Errorf("%+v", info)
		}
	}
	want := []string{first, second}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("listed %v, want %v", got, want)
	}
}

func TestIDsCannotLeaveTheDirectory(t *testing.T) {
	dir := newDir(t)
	for _, id := range []string{"", ".", "..", "../x", "a/b", `a\b`, "a\x00"} {
		_, createErr := dir.Create(id)
		_, openErr := dir.Open(t.Context(), id)
		_, readErr := dir.Reader(id, journal.Position{})
		_, statErr := dir.Stat(id)
		for name, err := range map[string]error{
			"Create": createErr, "Open": openErr, "Reader": readErr, "Stat": statErr,
			"Archive": dir.Archive(t.Context(), id), "Trash": trash.Of(dir).Move(t.Context(), id), "Follow": follow(t,
				dir, id, journal.Position{}).end(),
			"Restore": trash.Of(dir).Restore(t.Context(), id), "Purge": trash.Of(dir).Purge(id),
		} {
			if err == nil || errors.Is(err, journal.ErrNotFound) {
				t.Errorf("%s of %q: %v", name, id, err)
			}
		}
	}
}

func TestTrashAndRestore(t *testing.T) {
	for name, prepare := range map[string]func(*journal.Dir, context.Context, string) error{
		"live":     func(*journal.Dir, context.Context, string) error { return nil },
		"archived": (*journal.Dir).Archive,
	} {
		t.Run(name, func(t *testing.T) {
			dir := newDir(t)
			id := newJournal(t, dir, 0)
			appendFile(t, filepath.Join(dir.Path(), id+".jsonl"), []byte("half"))
			l := mustOpen(t, dir, id)
			mustAppend(t, l, counted(16, 0))
			must(t, l.Close())
			must(t, prepare(dir, t.Context(), id))
			events, before := validEvents(t, dir, id), filesIn(t, dir.Path())

			must(t, trash.Of(dir).Move(t.Context(), id))
			if _, err := dir.Open(t.Context(), id); !errors.Is(err, journal.ErrNotFound) {
				t.Error("it still opens:", err)
			}
			for _, name := range filesIn(t, dir.Path()) {
				if !strings.HasPrefix(name, "trash/") {
					t.Errorf("%s is not in the trash", name)
				}
			}
			// No journals.
			must(t, os.Mkdir(filepath.Join(dir.Path(), "trash", strings.Repeat("0", 26)+".jsonl"), 0o700))
			writeFile(t, filepath.Join(dir.Path(), "trash", "0.jsonl"), nil)
			all, err := trash.Of(dir).List()
			must(t, os.Remove(filepath.Join(dir.Path(), "trash", "0.jsonl")))
			if err != nil || len(all) != 1 || all[0].ID != id || !all[0].Since.Equal(noon) {
				t.Errorf("in the trash: %+v, %v", all, err)
			}

			must(t, trash.Of(dir).Restore(t.Context(), id))
			same(t, "restored", validEvents(t, dir, id), events)
			after := filesIn(t, dir.Path())
			slices.Sort(after)
			slices.Sort(before)
			if !slices.Equal(after, before) {
				t.Errorf("files %v, want %v", after, before)
			}

			must(t, trash.Of(dir).Move(t.Context(), id))
			other, err := dir.Create(id)
			must(t, err)
			mustAppend(t, other, counted(1, 0))
			must(t, other.Close())
			if err := trash.Of(dir).Restore(t.Context(), id); !errors.Is(err, fs.ErrExist) {
				t.Errorf("restored over another: %v", err)
			}
			must(t, trash.Of(dir).Purge(id))
			must(t, trash.Of(dir).Purge(id))
			if all, err := trash.Of(dir).List(); err != nil || len(all) > 0 {
				t.Errorf("in the trash: %+v, %v", all, err)
			}
		})
	}
}

func FuzzValidID(f *testing.F) {
	for _, seed := range []string{
		"",
		"01KAHV6T3R8Q4Y2M0N7C5B0001",
		"7ZZZZZZZZZZZZZZZZZZZZZZZZZ",
		"80000000000000000000000000",
		"01kahv6t3r8q4y2m0n7c5b0001",
		"01KAHV6T3R8Q4Y2M0N7C5B000I",
		"01KAHV6T3R8Q4Y2M0N7C5B000\xff",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, id string) {
		parsed, err := ulid.ParseStrict(id)
		if want := err == nil && parsed.String() == id; journal.ValidID(id) != want {
			t.Errorf("%q: not %v", id, want)
		}
	})
}
