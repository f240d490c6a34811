package browse

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"

	tea "charm.land/bubbletea/v2"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// Options select what the browser shows first. The zero Options show all sessions.
type Options struct {
	Text    string        // to search for; "": nothing
	Query   catalog.Query // the sessions; Text, Limit and After are ignored
	Running catalog.Key   // the session of the chat that opened the browser; zero: none
}

// A Choice is the session that the user chose to resume. The zero Choice is none.
type Choice struct {
	Session catalog.Session
	Chosen  bool
	ForkAt  uint64 // seq of the last event of a fork, which is resumed instead of the session; 0: the session itself
}

const (
	framesPerSecond = 120 // a key is shown with the next frame
	// memoryLimit is the memory, in bytes, from which on garbage is collected more often: a list
	// of 100,000 sessions takes 30 MB, and reading it again makes as much garbage.
	memoryLimit = 60 << 20
)

// Run shows the browser on the terminal until the user chooses a session or quits, and
// leaves the terminal as it was. Errors: ctx.Err(); those of the terminal.
func Run(ctx context.Context, a *app.App, o Options) (Choice, error) {
	m := newModel(ctx, a, o)
	defer m.close()
	out := a.Stdout.(*app.Output).File
	m.watch = tty.NewWatch(a.Stdin, out)
	defer m.watch.Close()
	p := tea.NewProgram(m, tea.WithContext(ctx), tea.WithoutSignalHandler(),
		tea.WithFPS(framesPerSecond), tea.WithInput(a.Stdin), tea.WithOutput(out))
	m.catalog.DirError = func(path string, _ error) { go p.Send(unreadableMsg(path)) }
	if os.Getenv("GOMEMLIMIT") == "" {
		defer debug.SetMemoryLimit(debug.SetMemoryLimit(memoryLimit))
	}
	watched, end := context.WithCancel(ctx)
	var watch sync.WaitGroup
	watch.Go(func() {
		a.Remote.Watch(watched, m.catalog, func(e *catalog.Elsewhere, err error) { p.Send(elsewhereMsg{e, err}) })
	})
	defer watch.Wait() // it may lock a session
	defer end()
	_, err := p.Run()
	if ctx.Err() != nil {
		return Choice{}, ctx.Err()
	}
	if errors.Is(err, tea.ErrInterrupted) {
		err = context.Canceled
	}
	return m.choice, err
}

// ownCatalog returns a catalog of the same sessions that prints nothing: what a.Catalog
// reports would be printed over the screen.
func ownCatalog(a *app.App) *catalog.Catalog {
	options := journal.Options{MaxLine: a.LineLimit(), Watch: &journal.Watch{}}
	return catalog.New(filepath.Join(a.Home, "sessions"), options)
}

// unreadableMsg is the path of a team's directory that cannot be read. Each list and each search reports it.
type unreadableMsg string
