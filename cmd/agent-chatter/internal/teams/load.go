package teams

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/home"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/schemas"
)

// Read loads a team by the path of its file or by its name, only to show it: it may run nothing.
func Read(a *app.App, name string) (*team.Team, error) {
	f, err := team.Find(name, a.Places())
	if err != nil {
		return nil, err
	}
	if f.Origin == team.BuiltIn {
		return team.Demo(), nil
	}
	return team.Load(f.Path, a.Home)
}

// A Loader loads teams that may run.
type Loader struct {
	App *app.App
	// Ask asks a question that y confirms. nil asks on the terminal, if there is one.
	Ask func(question string) (yes bool, err error)
	// Forget leaves trust.json as it is.
	Forget bool
}

// Load loads a team by the path of its file or by its name.
func (l Loader) Load(ctx context.Context, name string) (*team.Team, error) {
	f, err := team.Find(name, l.App.Places())
	if err != nil {
		return nil, err
	}
	if f.Origin == team.BuiltIn {
		return team.Demo(), nil
	}
	loaded, err := l.admit(ctx, f)
	if err == nil {
		Warn(l.App, loaded)
	}
	return loaded, err
}

// Warn prints the fields that the file of a team lacks and that have defaults, and those that are ignored.
func Warn(a *app.App, t *team.Team) {
	for _, p := range t.Warnings {
		a.Notice(warningText(t.Source.Path, p))
	}
}

// Of loads the team of a session from the configuration that its journal records.
func (l Loader) Of(ctx context.Context, t *catalog.Dir, id string) (*team.Team, error) {
	recorded, err := t.RecordedTeam(ctx, id)
	if err != nil {
		return nil, err
	}
	return l.Recorded(ctx, id, recorded.ID, recorded.Source)
}

// Recorded loads the team of a session from the recorded source of its configuration. The writer of
// the journal, perhaps another user, has chosen the path.
func (l Loader) Recorded(ctx context.Context, id, teamID string, source *projection.Source) (*team.Team, error) {
	if source == nil {
		if demo := team.Demo(); teamID == demo.ID {
			return demo, nil
		}
		return nil, app.Exit(app.ExitNotFound, noConfigurationText(id, teamID))
	}
	f := team.File{Path: filepath.Clean(source.Path), Origin: team.FoundHere}
	if l.isOwn(f.Path) {
		f.Origin = team.FoundAtHome
	} else if strings.HasPrefix(filepath.VolumeName(f.Path), `\\`) && !l.isKnown(ctx, f.Path) {
		// Windows sends credentials to the server that such a path names.
		return nil, app.Exit(app.ExitNotFound, elsewhereText(id, f.Path))
	}
	loaded, err := l.admit(ctx, f)
	var refused *app.ExitError
	switch {
	case errors.As(err, &refused):
		return nil, err
	case err != nil:
		return nil, app.Exit(app.ExitNotFound, notLoadedText(id, teamID, err))
	}
	if loaded.Source.SHA256 != source.SHA256 {
		l.App.Notice(changedText(source.Path))
	}
	return loaded, nil
}

// isOwn reports whether a file is in the team-config of the user's home.
func (l Loader) isOwn(path string) bool {
	own, err := filepath.EvalSymlinks(filepath.Join(l.App.Home, "team-config"))
	if err != nil {
		return false
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	return err == nil && dir == own
}

func (l Loader) isKnown(ctx context.Context, path string) bool {
	all, err := l.trusted(ctx)
	return err == nil && slices.ContainsFunc(all, func(t team.Trusted) bool { return t.Path == path })
}

// admit loads a team that the user has chosen, or confirms.
func (l Loader) admit(ctx context.Context, f team.File) (*team.Team, error) {
	if err := l.App.CheckHome(); err != nil {
		return nil, err
	}
	if l.isOwn(f.Path) {
		if err := home.CheckFileOwner(l.App.Home, f.Path); err != nil {
			return nil, err
		}
	}
	loaded, err := team.Load(f.Path, l.App.Home)
	if err != nil {
		return nil, err
	}
	chosen := f.Origin != team.FoundHere && len(loaded.Elsewhere) == 0
	if chosen && f.Origin == team.FoundAtHome {
		return loaded, nil
	}
	entry := team.Trusted{Path: loaded.Source.Path, SHA256: loaded.Digest()}
	all, err := l.trusted(ctx)
	switch {
	case err != nil && chosen:
		l.App.Notice(notRecordedText(entry.Path, err))
		return loaded, nil
	case err != nil:
		return nil, err
	case !slices.Contains(all, entry):
		if !chosen {
			if err := l.confirm(loaded, reason(f.Origin, entry.Path, all)); err != nil {
				return nil, err
			}
		}
		l.record(ctx, all, entry)
	}
	loaded.ReadElsewhere = true
	return loaded, nil
}

// AdmitPrompt asks whether a command of the working directory, which someone else may have written, may be sent to
// agents, unless its text was confirmed before.
func (l Loader) AdmitPrompt(ctx context.Context, name, path, text string) error {
	if err := l.App.CheckHome(); err != nil {
		return err
	}
	entry := trustedPrompt(path, text)
	all, err := l.trusted(ctx)
	if err != nil || slices.Contains(all, entry) {
		return err
	}
	ask := l.Ask
	if ask == nil {
		if !l.App.IsTerminal() {
			return app.Exit(app.ExitFailed, promptRefusedText(name, path))
		}
		ask = l.App.Confirm
	}
	switch yes, err := ask(promptText(name, path, text)); {
	case err != nil:
		return err
	case !yes:
		return app.Exit(app.ExitFailed, app.Text("Nothing was sent."))
	}
	l.record(ctx, all, entry)
	return nil
}

// Admits reports whether AdmitPrompt asks nothing, since the text was confirmed before.
func (l Loader) Admits(ctx context.Context, path, text string) bool {
	if l.App.CheckHome() != nil {
		return false
	}
	all, err := l.trusted(ctx)
	return err == nil && slices.Contains(all, trustedPrompt(path, text))
}

func trustedPrompt(path, text string) team.Trusted {
	sum := sha256.Sum256([]byte(text))
	return team.Trusted{Path: path, SHA256: hex.EncodeToString(sum[:])}
}

// maxShown is how many lines of a prompt are shown before it is confirmed.
const maxShown = 40

// promptText asks whether a command of the working directory may run.
func promptText(name, path, text string) string {
	lines := strings.Split(strings.TrimSpace(tty.Safe(text)), "\n")
	if more := len(lines) - maxShown; more > 0 {
		lines = append(lines[:maxShown], fmt.Sprintf("… and %d more lines: read the file", more))
	}
	return fmt.Sprintf("The command %s is a file of the working directory: %s\nIt would send:\n  %s\n"+
		"You have not confirmed it yet, and it may be from someone else.\nRun it?",
		tty.SafeLine(name), tty.SafeLine(path), strings.Join(lines, "\n  "))
}

// promptRefusedText is for a command that cannot be confirmed without a terminal.
func promptRefusedText(name, path string) app.Message {
	return app.Text("The command %s was not run: %s is in the working directory, and may be from someone else.\n"+
		"Run it once in a chat on a terminal to confirm it.", tty.SafeLine(name), tty.SafeLine(path))
}

// record enters a team in trust.json. If that fails, the team runs, and the next run asks.
func (l Loader) record(ctx context.Context, all []team.Trusted, entry team.Trusted) {
	if l.Forget {
		return
	}
	if err := team.Trust(ctx, l.App.Home, all, []team.Trusted{entry}); err != nil {
		l.App.Notice(notRecordedText(entry.Path, err))
	}
}

// trust enters a team in trust.json, which confirms what it runs. It returns the team.
func trust(ctx context.Context, a *app.App, name string) (*team.Team, error) {
	loaded, err := Read(a, name)
	if err != nil || loaded.Source == nil {
		return loaded, err
	}
	all, err := Loader{App: a}.trusted(ctx)
	if err != nil {
		return nil, err
	}
	entry := team.Trusted{Path: loaded.Source.Path, SHA256: loaded.Digest()}
	return loaded, team.Trust(ctx, a.Home, all, []team.Trusted{entry})
}

// revoke removes a team from trust.json. The team's file may be missing.
func revoke(ctx context.Context, a *app.App, name string) (path string, found bool, err error) {
	f, err := team.Find(name, a.Places())
	if path = f.Path; err != nil {
		path, err = filepath.Abs(name)
	}
	if err != nil {
		return path, false, err
	}
	all, err := Loader{App: a}.trusted(ctx)
	if err != nil {
		return path, false, err
	}
	path = filepath.Clean(path)
	found, err = team.Distrust(ctx, a.Home, all, path)
	return path, found, err
}

// reason returns why a team needs a confirmation.
func reason(origin team.Origin, path string, all []team.Trusted) string {
	switch {
	case slices.ContainsFunc(all, func(t team.Trusted) bool { return t.Path == path }):
		return "It runs or reads something else than when you confirmed it."
	case origin != team.FoundHere:
		return "It reads instructions outside of its directories."
	}
	return "You have not confirmed it yet, and it may be from someone else."
}

// confirm shows what a team would run, and asks.
func (l Loader) confirm(t *team.Team, why string) error {
	ask := l.Ask
	if ask == nil {
		if !l.App.IsTerminal() {
			return app.Exit(app.ExitFailed, refusedText(l.App, t, why))
		}
		ask = l.App.Confirm
	}
	yes, err := ask(confirmText(l.App, t, why))
	if err == nil && !yes {
		err = app.Exit(app.ExitFailed, app.Text("The team was not started."))
	}
	return err
}

func notLoadedText(id, teamID string, err error) app.Message {
	return app.Text("Cannot load the configuration of the team '%s': %s", tty.SafeLine(teamID), app.Reason(err)).
		With(app.To("name another", "chat", "--resume", id, "-t", "TEAM"))
}

func noConfigurationText(id, teamID string) app.Message {
	return app.Text("Session %s records no configuration of its team '%s'.", id, tty.SafeLine(teamID)).
		With(app.To("name one", "chat", "--resume", id, "-t", "TEAM"))
}

// elsewhereText is for a journal that names a file on another machine.
func elsewhereText(id, path string) app.Message {
	return app.Text("The team configuration of session %s is on another machine: %s", id, tty.SafeLine(path)).
		With(app.To("confirm it", "team", "trust", path), app.To("name another", "chat", "--resume", id, "-t", "TEAM"))
}

func warningText(path string, p schemas.Problem) string {
	instead := "its default is used"
	if p.Unknown != "" {
		instead = "it is ignored, because only a newer agent-chatter knows it"
	}
	return fmt.Sprintf("⚠️  %s: %s: %s; %s.",
		tty.SafeLine(path), tty.SafeLine(p.Path), tty.SafeLine(p.Message), instead)
}

func changedText(path string) string {
	return fmt.Sprintf("The team configuration %s has changed since this session.", tty.SafeLine(path))
}

func notRecordedText(path string, err error) string {
	return fmt.Sprintf("Cannot record that the team %s is trusted: %s\n"+
		"The next chat without -t may ask for confirmation.",
		tty.SafeLine(path), tty.SafeLine(err.Error()))
}
