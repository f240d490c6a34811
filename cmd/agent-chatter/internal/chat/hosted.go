package chat

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/oklog/ulid/v2"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/console"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/home"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/live"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/live/remote"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/teams"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// maxHosted is how many conversations a Host runs at the same time.
const maxHosted = 64

// A Host runs conversations without a terminal, for the devices that show them. Its methods may be called concurrently.
type Host struct {
	ctx         context.Context
	app         *app.App
	config      home.Config
	directories []string // where conversations may work
	agents      *agents

	mu      sync.Mutex
	open    []*repl
	changed chan struct{} // closed, and replaced, when open or a session of it changes
	running sync.WaitGroup

	others *remote.Server // for other processes that take part
}

// NewHost returns a host whose conversations end when ctx is done. They work in the directories, which are paths
// without links, and those in them.
func NewHost(ctx context.Context, a *app.App, directories []string) (*Host, error) {
	config, err := a.Config()
	if err != nil {
		return nil, err
	}
	h := &Host{
		ctx: ctx, app: a, config: config, directories: directories, agents: newAgents(a, config, true, true),
		changed: make(chan struct{}),
	}
	h.others = remote.NewServer(a.Home, a.Log, func(session string) *live.Conversation {
		c, _ := h.own(session)
		return c
	})
	return h, nil
}

// Directories are those in which a new conversation may work.
func (h *Host) Directories() []string { return h.directories }

// Close waits until the conversations have ended, after their context.
func (h *Host) Close() {
	h.running.Wait()
	h.others.Close()
}

// Conversation implements api.Hosts.
func (h *Host) Conversation(ctx context.Context, key catalog.Key) (c live.Shared, changed <-chan struct{}) {
	own, changed := h.own(key.Name())
	if own != nil {
		return own, changed
	}
	return elsewhere(ctx, h.app, key), changed
}

// elsewhere returns a conversation that another process of this home hosts; nil: none does.
func elsewhere(ctx context.Context, a *app.App, key catalog.Key) live.Shared {
	writer := a.Catalog.At(key.Dir).Journals().Writer(key.ID)
	if writer == (journal.Holder{}) || writer.PID == os.Getpid() {
		return nil
	}
	if other, err := remote.Attach(ctx, a.Home, key, writer); err == nil {
		return other
	}
	return nil
}

// own returns a conversation that runs in this process; nil: it does not.
func (h *Host) own(session string) (c *live.Conversation, changed <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range h.open {
		if own := r.own.Load(); own != nil && own.Name() == session {
			return r.live, h.changed
		}
	}
	return nil, h.changed
}

// change says that Conversation may have another result.
func (h *Host) change() {
	h.mu.Lock()
	defer h.mu.Unlock()
	close(h.changed)
	h.changed = make(chan struct{})
}

// Teams returns the teams with which a conversation can begin.
func (h *Host) Teams(ctx context.Context) (all []live.Team) {
	files, err := team.Files(h.app.Places())
	if err != nil {
		h.app.Log.Warn("the teams cannot be listed", "error", err)
	}
	loader := h.prepare(h.app.Cwd).teams(ctx)
	for _, f := range files {
		t, err := teams.Read(h.app, f.Name)
		if err != nil || f.Hidden {
			continue // it cannot run
		}
		_, err = loader.Load(ctx, f.Name)
		found := live.Team{Name: f.Name, Title: tty.SafeLine(t.DisplayName), Trusted: err == nil}
		for _, m := range t.Members {
			found.Members = append(found.Members, projection.Member{
				ID: m.ID, Name: m.Name, DisplayName: m.DisplayName, Type: m.Type, AgentType: m.AgentType,
			})
		}
		all = append(all, found)
	}
	return all
}

// Begin begins a conversation of a team, which must be trusted, with its first message, and returns once that is
// recorded.
func (h *Host) Begin(ctx context.Context, name, dir string, first live.Input) (catalog.Key, error) {
	if text := strings.TrimSpace(first.Text); strings.HasPrefix(text, "/") && !strings.HasPrefix(text, "//") {
		return catalog.Key{}, app.Exit(app.ExitUsage, notBegunText(""))
	}
	dir, err := h.directory(dir)
	if err != nil {
		return catalog.Key{}, err
	}
	r := h.prepare(dir)
	files, err := team.Files(r.app.Places())
	if err != nil {
		return catalog.Key{}, err
	}
	if !slices.ContainsFunc(files, func(f team.File) bool { return f.Name == name }) { // a path would be trusted
		return catalog.Key{}, app.Exit(app.ExitNotFound, noTeamText(name))
	}
	t, err := r.teams(ctx).Load(ctx, name)
	if err != nil {
		return catalog.Key{}, err
	}
	if err := r.begin(h.ctx, opening{team: t, store: r.newStore(), id: ulid.Make().String()}); err != nil {
		return catalog.Key{}, err
	}
	created := make(chan struct{})
	r.created = sync.OnceFunc(func() { close(created) })
	if err := r.live.Enter(first); err != nil {
		r.c.Stop("end")
		return catalog.Key{}, err
	}
	ended, err := h.start(r)
	if err != nil {
		return catalog.Key{}, err
	}
	select {
	case <-created:
		return *r.own.Load(), nil
	case <-ended:
		said, _ := r.heard.Load().(string)
		return catalog.Key{}, app.Exit(app.ExitUsage, notBegunText(said))
	case <-ctx.Done():
		return catalog.Key{}, ctx.Err()
	}
}

// Continue resumes a session. It does nothing if that runs here.
func (h *Host) Continue(ctx context.Context, key catalog.Key) error {
	if c, _ := h.Conversation(ctx, key); c != nil {
		return nil
	}
	s, err := h.app.Catalog.At(key.Dir).Session(ctx, key.ID)
	if err != nil {
		return err
	}
	dir, err := h.directory(s.CWD)
	if err != nil {
		return err
	}
	r := h.prepare(dir)
	if err := r.startSession(ctx, nil, s, false, ""); err != nil {
		return err
	}
	_, err = h.start(r)
	return err
}

// directory checks that a conversation may work in a directory, and returns its path without links.
func (h *Host) directory(dir string) (string, error) {
	whole, err := filepath.EvalSymlinks(dir)
	if err != nil || !filepath.IsAbs(dir) {
		return "", app.Exit(app.ExitUsage, noDirectoryText(dir, err))
	}
	if info, err := os.Stat(whole); err != nil || !info.IsDir() {
		return "", app.Exit(app.ExitUsage, noDirectoryText(dir, err))
	}
	if !slices.ContainsFunc(h.directories, func(allowed string) bool {
		inside, err := filepath.Rel(allowed, whole)
		return err == nil && filepath.IsLocal(inside)
	}) {
		return "", app.Exit(app.ExitUsage, notAllowedText(dir))
	}
	return whole, nil
}

// prepare returns a conversation that has not begun.
func (h *Host) prepare(dir string) *repl {
	own := h.app.WithStderr(io.Discard)
	own.Stdin, own.Stdout, own.Cwd = nil, io.Discard, dir
	own.Present = func(app.State, app.Message) {} // Heard gets them
	cmd := &Command{Input: "text", Output: "text", host: h}
	return cmd.newREPL(own, h.config)
}

// start runs a conversation that has begun, until it ends.
func (h *Host) start(r *repl) (ended <-chan struct{}, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.open) >= maxHosted {
		r.c.Stop("end")
		return nil, app.Exit(app.ExitFailed, tooManyHostedText())
	}
	h.open = append(h.open, r)
	close(h.changed)
	h.changed = make(chan struct{})
	end := make(chan struct{})
	h.running.Go(func() {
		defer close(end)
		err := r.run(h.ctx)
		if err != nil && app.CodeOf(err) != app.ExitInterrupted {
			h.app.Fail(err)
		}
		r.live.End()
		h.mu.Lock()
		h.open = slices.DeleteFunc(h.open, func(other *repl) bool { return other == r })
		h.mu.Unlock()
		h.change()
	})
	return end, nil
}

// noSurface shows nothing.
type noSurface struct{}

// Say implements console.Surface.
func (noSurface) Say(func(*console.Model) []view.Block) {}

func noDirectoryText(dir string, err error) app.Message {
	reason := "it is no directory"
	if err != nil {
		reason = app.Reason(err)
	}
	return app.Text("A conversation cannot work in %s: %s", tty.SafeLine(dir), strings.TrimSuffix(reason, ".")+".")
}

func notAllowedText(dir string) app.Message {
	return app.Text("Conversations of this page may not work in %s.", tty.SafeLine(dir)).
		With(app.To("allow it", "serve", "--chat", "--allow", dir), app.To("work in it here", "chat"))
}

// notBegunText is for a first message that was not taken; said is what the conversation said of it.
func notBegunText(said string) app.Message {
	if said == "" {
		said = "The first message is sent to an agent: it is no command."
	}
	return app.Message{Text: said}
}

func noTeamText(name string) app.Message {
	return app.Text("There is no team %s.", tty.SafeLine(name)).With(app.To("list the teams", "team", "list"))
}

func tooManyHostedText() app.Message {
	return app.Text("%d conversations run, which is the limit. End one with /end.", maxHosted)
}
