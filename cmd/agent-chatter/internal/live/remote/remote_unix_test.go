//go:build unix

package remote_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/live"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/live/remote"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/web"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// An inbox keeps what is entered in a queue.
type inbox struct{ *live.Queue }

func (b inbox) Enter(in live.Input) error {
	if in.Text == "refused" {
		return errors.New("not here")
	}
	return b.Queue.Enter(tty.Line{ID: in.ID, Text: in.Text, Device: in.From})
}

func (b inbox) TakeBack(id string) (string, bool) {
	line, ok := b.Queue.TakeBack(id)
	return line.Text, ok
}

func (b inbox) Cancel(string) { b.Queue.Cancel() }

func (inbox) Complete(_ web.Role, text string) live.Completion {
	return live.Completion{From: len(text), Choices: []live.Choice{{Insert: "/status"}}}
}

var key = catalog.Key{Dir: "/home/ann/sessions/demo", ID: "01M8M941K8EB9QK0HQYR5A1K95"}

// hosting hosts a conversation in a home, and returns it and its writer.
func hosting(t *testing.T, home string) (*live.Conversation, inbox, journal.Holder) {
	t.Helper()
	b := inbox{live.NewQueue(func() {}, func([]tty.Line) {})}
	c := live.New(b)
	end, err := remote.Listen(home, func(session string) *live.Conversation {
		if session == key.Name() {
			return c
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(end)
	name, _ := os.Hostname()
	return c, b, journal.Holder{PID: os.Getpid(), Host: name}
}

// shortDir returns a directory whose path has room for a socket.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "ac")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// What one process does with a conversation that another one hosts is what the host would do.
func TestAttached(t *testing.T) {
	home := shortDir(t)
	hosted, queue, writer := hosting(t, home)
	c, err := remote.Attach(t.Context(), home, key, writer)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Enter(live.Input{ID: "1", Text: "hello", From: "tablet", Role: web.RoleAnswer}); err != nil {
		t.Error(err)
	}
	if got := queue.Queued(); len(got) != 1 || got[0] != (tty.Line{ID: "1", Text: "hello", Device: "tablet"}) {
		t.Errorf("queued %+v", got)
	}
	if err := c.Enter(live.Input{ID: "2", Text: "refused", Role: web.RoleAll}); err == nil || err.Error() != "not here" {
		t.Errorf("refused: %v", err)
	}
	if text, err := c.TakeBack("1"); err != nil || text != "hello" {
		t.Errorf("taken back: %q, %v", text, err)
	}
	if _, err := c.TakeBack("1"); !errors.Is(err, live.ErrSent) {
		t.Errorf("taken back again: %v", err)
	}
	if got := c.Complete(web.RoleAll, "/st"); len(got.Choices) != 1 || got.From != 3 {
		t.Errorf("completed: %+v", got)
	}
	question := coordinator.Question{TurnID: "t", Permission: agent.Permission{
		Tool: "Bash", Input: []byte(`{"command":"ls"}`), Edits: []agent.FileEdit{{Path: "a", New: "b"}},
	}}
	open := hosted.Ask(question)
	hosted.Text("t", "Let me see.")
	for u := range c.Watch(t.Context()) {
		if u.State != nil && len(u.State.Questions) == 1 {
			q := u.State.Questions[0]
			if q.Permission.Tool != "Bash" || string(q.Permission.Input) != `{"command":"ls"}` || len(q.Permission.Edits) != 1 {
				t.Errorf("the question is %+v", q)
			}
			answer := live.Answer{By: "tablet", Answer: coordinator.Answer{Decision: coordinator.Allowed}}
			if err := c.Answer(q.ID, answer); err != nil {
				t.Error(err)
			}
			answered, isAnswered := errors.AsType[*live.AnsweredError](c.Answer(q.ID, answer))
			if !isAnswered || answered.By != "tablet" {
				t.Errorf("answered again: %+v", answered)
			}
			break
		}
	}
	if got, ok := open.Close(); !ok || got.Decision != coordinator.Allowed || got.By != "tablet" {
		t.Errorf("the answer is %+v", got)
	}
	hosted.End()
	n := 0
	for u := range c.Watch(t.Context()) {
		if n++; !u.Ended {
			t.Errorf("after the end: %+v", u)
		}
	}
	if n != 1 {
		t.Errorf("%d updates", n)
	}
}

func TestNotHosted(t *testing.T) {
	home := shortDir(t)
	_, _, writer := hosting(t, home)
	other := key
	other.ID = "01M8M941K8EB9QK0HQYR5A1K96"
	elsewhere, ended, parent := writer, writer, writer
	elsewhere.Host, ended.PID, parent.PID = "another", 1<<22+1, os.Getppid()
	for name, tt := range map[string]struct {
		key    catalog.Key
		writer journal.Holder
	}{
		"another session": {other, writer}, "another machine": {key, elsewhere}, "a process that has ended": {key, ended},
		"a process without a socket": {key, parent}, "no process": {key, journal.Holder{}},
	} {
		if _, err := remote.Attach(t.Context(), home, tt.key, tt.writer); !errors.Is(err, remote.ErrNotHosted) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A process that was stopped has a socket, and does not answer: a listener that accepts nothing is the same.
func TestStopped(t *testing.T) {
	t.Parallel()
	home := shortDir(t)
	name := socketOf(t, home)
	l, err := net.Listen("unix", name)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	host, _ := os.Hostname()
	_, err = remote.Attach(t.Context(), home, key, journal.Holder{PID: os.Getpid(), Host: host})
	if !errors.Is(err, remote.ErrNotHosted) || !strings.Contains(err.Error(), "does not answer") {
		t.Error(err)
	}
}

// What another user could have put in the place of a socket is not used.
func TestPlantedSockets(t *testing.T) {
	home := shortDir(t)
	dir := filepath.Join(home, remote.Dir)
	listen := func() error {
		end, err := remote.Listen(home, func(string) *live.Conversation { return nil })
		if err == nil {
			end()
		}
		return err
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.Mkdir(dir, 0o755))
	if listen() == nil {
		t.Error("others can read the directory")
	}
	must(os.Chmod(dir, 0o700))
	name := filepath.Join(dir, filepath.Base(socketOf(t, home)))
	must(os.WriteFile(name, []byte("keep"), 0o600))
	if err := listen(); err == nil || !strings.Contains(err.Error(), "is no socket") {
		t.Errorf("a file: %v", err)
	}
	if data, err := os.ReadFile(name); err != nil || string(data) != "keep" {
		t.Errorf("the file has %q, %v", data, err)
	}
	must(os.Remove(name))
	// A socket of a process that was killed is replaced, and those of others are removed.
	stale := filepath.Join(dir, "999999999.sock")
	for _, path := range []string{name, stale} {
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path})
		must(err)
		l.SetUnlinkOnClose(false)
		must(l.Close())
	}
	if err := listen(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(stale); err == nil {
		t.Error("the socket of a process that has ended is left")
	}
	must(os.Remove(dir))
	must(os.Symlink(t.TempDir(), dir))
	if listen() == nil {
		t.Error("the directory is a link")
	}
	if _, err := remote.Attach(t.Context(), home, key, journal.Holder{}); !errors.Is(err, remote.ErrNotHosted) {
		t.Errorf("a link: %v", err)
	}
}

// socketOf returns the path of the socket of this process in a home.
func socketOf(t *testing.T, home string) string {
	t.Helper()
	end, err := remote.Listen(home, func(string) *live.Conversation { return nil })
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	found, _ := filepath.Glob(filepath.Join(home, remote.Dir, "*.sock"))
	if len(found) != 1 {
		t.Fatalf("sockets: %q", found)
	}
	if info, err := os.Lstat(found[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket: %v, %v", info, err)
	}
	return found[0]
}

// The path of a home may be longer than that of a socket.
func TestLongHome(t *testing.T) {
	home := filepath.Join(shortDir(t), strings.Repeat("a", 100))
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_RUNTIME_DIR", "")
	if _, err := remote.Listen(home, nil); !errors.Is(err, remote.ErrTooLong) {
		t.Errorf("without a runtime directory: %v", err)
	}
	t.Setenv("XDG_RUNTIME_DIR", shortDir(t))
	_, _, writer := hosting(t, home)
	if _, err := remote.Attach(t.Context(), home, key, writer); err != nil {
		t.Error(err)
	}
}
