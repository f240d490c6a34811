package replica_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filippo.io/age"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/hub"
	"github.com/agent-chatter/agent-chatter/journal/hub/hubtest"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/catalog/replica"
)

// attach appends a message with files that have these contents.
func (m *machine) attach(contents ...string) {
	m.t.Helper()
	files, err := m.Dir.Attachments(id)
	if err != nil {
		m.t.Fatal(err)
	}
	said := projection.NewMessage("f-"+contents[0], created, mia, "look", nil)
	for _, content := range contents {
		sum, err := files.Write([]byte(content))
		if err != nil {
			m.t.Fatal(err)
		}
		said.Attachments = append(said.Attachments, projection.File{
			Name: "a.png", MediaType: "image/png", Bytes: int64(len(content)), SHA256: sum,
		})
	}
	if err := m.Dir.Append(m.t.Context(), id, projection.Record(created.Add(time.Minute), said)); err != nil {
		m.t.Fatal(err)
	}
}

// files returns the contents of the files of a session's messages.
func (m *machine) files(id string) (contents []string) {
	m.t.Helper()
	files, err := m.Dir.Attachments(id)
	if err != nil {
		m.t.Fatal(err)
	}
	for e, err := range m.Dir.Events(m.t.Context(), id) {
		if err != nil {
			m.t.Fatal(err)
		}
		for _, f := range projection.FilesOf(e.Type, e.Data) {
			data, err := files.Read(f.SHA256, f.Bytes)
			if err != nil {
				m.t.Error(err)
			}
			contents = append(contents, string(data))
		}
	}
	return contents
}

func (m *machine) wantFiles(id string, contents ...string) {
	m.t.Helper()
	got := m.files(id)
	if len(got) != len(contents) {
		m.t.Fatalf("%d files, want %d", len(got), len(contents))
	}
	for i := range got {
		if got[i] != contents[i] {
			m.t.Errorf("file %d has %d bytes, want %d: %.40q", i, len(got[i]), len(contents[i]), got[i])
		}
	}
}

var largeFile = strings.Repeat("picture ", 400_000) // of several messages

func TestFilesMoveBetweenMachines(t *testing.T) {
	ann, ben, _ := two(t)
	ann.create("one")
	ann.attach("small", largeFile, "")
	ann.push()
	ben.pull()
	ben.wantFiles(id, "small", largeFile, "")
	ben.say("two")
	ben.attach("from ben")
	ben.push()
	ann.pull()
	ann.wantFiles(id, "small", largeFile, "", "from ben")
	if ann.read() != ben.read() {
		t.Error("the journals differ")
	}
}

// With recipients, the hub has neither the bytes of a file nor their SHA-256.
func TestFilesAreSealed(t *testing.T) {
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	memory := &hubtest.Memory{}
	sealed := func(name string) *machine {
		c := catalog.New(t.TempDir(), journal.Options{})
		h := hub.New(memory, hub.Options{
			Home: "/home/" + name, Host: name, Check: replica.Check,
			Recipients: []age.Recipient{identity.Recipient()}, Identities: []age.Identity{identity},
		})
		return &machine{t, c, replica.Replica{Hub: h, Dir: c.Team("kitchen"), ID: id}}
	}
	ann, ben := sealed("ann"), sealed("ben")
	ann.create("one")
	ann.attach("small", largeFile)
	ann.push()
	for m, err := range memory.Read(t.Context(), ann.Session(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(m.Body, []byte("picture ")) || bytes.Contains(m.Body, []byte("small")) ||
			bytes.Contains(m.Head, []byte(`"file":"`)) || !bytes.Contains(m.Head, []byte(`"sealed"`)) {
			t.Errorf("message %d is not sealed: %.200s", m.Revision, m.Head)
		}
	}
	ben.pull()
	ben.wantFiles(id, "small", largeFile)
}

// A file on the hub is there before a line names it, whatever message is refused, and is stored again if its parts are
// not whole.
func TestFilesPrecedeTheirLines(t *testing.T) {
	for nth := 1; ; nth++ {
		memory := &hubtest.Memory{Limit: 1 << 10}
		ann, ben := newMachine(t, memory, "ann"), newMachine(t, memory, "ben")
		ann.create("one")
		content := strings.Repeat("x", 3500)
		ann.attach(content)
		calls, failed := 0, false
		memory.Fault = func(stored bool) error {
			if calls++; calls != nth {
				return nil
			}
			failed = true
			return &hub.UnavailableError{Err: errors.New("no connection")}
		}
		_, pushErr := ann.Push(t.Context(), true)
		memory.Fault = nil
		ben.Pull(t.Context())
		if _, err := os.Stat(ben.path()); err == nil {
			for _, got := range ben.files(id) {
				if got != content {
					t.Errorf("call %d: %d bytes", nth, len(got))
				}
			}
		}
		if pushErr != nil || failed {
			if _, err := ann.Push(t.Context(), true); err != nil {
				t.Fatalf("call %d: %v", nth, err)
			}
		}
		ben.pull()
		ben.wantFiles(id, content)
		if !failed {
			return
		}
	}
}

// What diverged keeps its files, and a pull restores files that are lost or damaged.
func TestLostFilesAreFetched(t *testing.T) {
	ann, ben, _ := two(t)
	ann.create("one")
	ann.attach("first")
	ann.push()
	ben.pull()
	ann.attach("of ann")
	ann.push()
	ben.attach("of ben")
	p := ben.pull()
	if p.Fork == "" {
		t.Fatal("it did not diverge")
	}
	ben.wantFiles(p.Fork, "first", "of ben")
	ben.wantFiles(id, "first", "of ann")
	entries, err := filepath.Glob(filepath.Join(ben.Dir.Journals().Path(), id+".attachments", "*"))
	if err != nil || len(entries) < 2 {
		t.Fatal(entries, err)
	}
	for i, path := range entries {
		if i == 0 {
			err = os.Remove(path)
		} else {
			err = os.WriteFile(path, []byte("damaged"), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := ben.PullFiles(t.Context()); err != nil {
		t.Fatal(err)
	}
	ben.wantFiles(id, "first", "of ann")
}

// Messages of other programs that look like files have no effect.
func TestHostileFilesAreSkipped(t *testing.T) {
	ann, ben, memory := two(t)
	ann.create("one")
	ann.attach("small")
	ann.push()
	last, err := memory.Last(t.Context(), ann.Session())
	if err != nil {
		t.Fatal(err)
	}
	revision := last.Revision
	for _, head := range []string{
		`{"v":1,"kind":"file","file":"../../x","part":1,"parts":1}`,
		`{"v":1,"kind":"file","part":1,"parts":1}`,
		`{"v":1,"kind":"file","file":"` + strings.Repeat("ab", 32) + `","part":1,"parts":1}`,
		`{"v":1,"kind":"file","file":"` + strings.Repeat("ab", 32) + `","part":2,"parts":2}`,
		`{"v":1,"kind":"file","file":"` + strings.Repeat("ab", 32) + `","part":-1,"parts":99999999}`,
	} {
		m := hub.Message{Head: []byte(head), Body: []byte("x")}
		if revision, err = memory.Publish(t.Context(), ann.Session(), revision, m); err != nil {
			t.Fatal(err)
		}
	}
	ben.pull()
	ben.wantFiles(id, "small")
	entries, err := os.ReadDir(filepath.Join(ben.Dir.Journals().Path(), id+".attachments"))
	if err != nil || len(entries) != 1 {
		t.Errorf("%d files, %v", len(entries), err)
	}
	ann.attach("after")
	if _, err := ann.Push(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	ben.pull()
	ben.wantFiles(id, "small", "after")
}
