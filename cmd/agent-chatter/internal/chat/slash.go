package chat

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/sessions"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/setup"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/transfer"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/redact"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// slash is one command of the chat.
type slash struct {
	name, usage, help string
	do                func(t *talk, args string) error
}

// slashes are the commands in the order in which help shows them.
func slashes() []slash {
	return []slash{
		{"/help", "", "this", (*talk).slashHelp},
		{"/status", "", "what the conversation is doing", (*talk).slashStatus},
		{"/members", "", "who takes part", (*talk).slashMembers},
		{"/queue", "", "who speaks next", (*talk).slashQueue},
		{"/retry", "", "ask again the agent that did not finish", (*talk).slashRetry},
		{"/task", "TEXT", "set the team's task; without a text, show it", (*talk).slashTask},
		{"/rename", "TITLE", "give the session a title", (*talk).slashRename},
		{"/sessions", "", "list the sessions", (*talk).slashSessions},
		{"/search", "TEXT", "find messages in all sessions", (*talk).slashSearch},
		{"/resume", "[ID|--last|--latest]", "go on with another session", (*talk).slashResume},
		{"/fork", "[SEQ]", "go on in a copy of it, up to that event", (*talk).slashFork},
		{"/team", "deploy FILE | list", "talk to another team", (*talk).slashTeam},
		{"/export", "FILE", "write the session to a file, as a snapshot", (*talk).slashExport},
		{"/clear", "", "clear the screen", (*talk).slashClear},
		{"/end", "", "end, saved (also /exit, /quit)", (*talk).slashEnd},
		{"/exit", "", "", (*talk).slashEnd},
		{"/quit", "", "", (*talk).slashEnd},
	}
}

// command obeys a line that starts with a slash.
func (t *talk) command(line string) error {
	name, args, _ := strings.Cut(strings.TrimSpace(line), " ")
	for _, s := range slashes() {
		if s.name == name {
			return s.do(t, strings.TrimSpace(args))
		}
	}
	t.refuse("There is no command %s; nothing was sent. /help shows those there are; a message that starts with / is typed with two: /%s", tty.SafeLine(name), tty.SafeLine(line))
	return nil
}

func (t *talk) slashHelp(string) error {
	var b strings.Builder
	b.WriteString("What you type is said to the team. To say who answers, write [NEXT: name].\n")
	for _, s := range slashes() {
		if s.help != "" {
			fmt.Fprintf(&b, "  %-30s %s\n", s.name+" "+s.usage, s.help)
		}
	}
	fmt.Fprintf(&b, "  %-30s %s\n", "//…", "a message that starts with /")
	b.WriteString("Escape interrupts the agent that speaks, Ctrl+C ends the conversation.\nA line that ends in \\ goes on with the next.")
	t.app.Notice(b.String())
	return nil
}

func (t *talk) slashEnd(string) error { return errEnd }

func (t *talk) slashClear(string) error {
	if t.screen.Terminal {
		fmt.Fprint(t.app.Stdout, "\x1b[2J\x1b[H")
	}
	return nil
}

func (t *talk) slashStatus(string) error {
	s := t.c.Session()
	if s == nil {
		t.app.Notice(fmt.Sprintf("%s: nothing was said yet. Team %s.", t.c.Status().Phase, tty.SafeLine(t.c.Team().DisplayName)))
		return nil
	}
	t.app.Notice(fmt.Sprintf("%s: session %s, %q, team %s, %s, %s of agents; next: %s.",
		t.c.Status().Phase, s.ID, tty.SafeLine(s.Title), tty.SafeLine(s.TeamName), app.Count(s.Stats.Messages, "message"), app.Count(s.Stats.Turns, "turn"), tty.SafeLine(t.c.Status().Waiting)))
	t.sayRounds()
	if t.c.Status().Unsaved {
		t.app.Notice(app.TextNotSaved)
	}
	return nil
}

// sayRounds says how many turns agents have left, when they are counted.
func (t *talk) sayRounds() {
	if text := roundsText(t.c.Rounds()); text != "" {
		t.app.Notice(text)
	}
}

func (t *talk) slashMembers(string) error {
	for _, m := range t.c.Team().Members {
		what := m.Type
		if m.AgentType != "" {
			what += ", " + m.AgentType
		}
		t.app.Notice(fmt.Sprintf("  %s (%s): %s", tty.SafeLine(m.Name), tty.SafeLine(m.DisplayName), tty.SafeLine(what)))
	}
	return nil
}

func (t *talk) slashQueue(string) error {
	t.app.Notice(queueText(t.c.Queued(), t.c.QueueChanges()))
	t.sayRounds()
	return nil
}

func (t *talk) slashRetry(string) error {
	return t.work(func(ctx context.Context) error {
		err := t.c.Retry(ctx)
		if errors.Is(err, coordinator.ErrNothingToRetry) {
			return errors.New("no turn was interrupted: there is nothing to retry")
		}
		return err
	})
}

func (t *talk) slashTask(text string) error {
	if text != "" {
		err := t.c.SetTask(text)
		t.judge(err)
		if s := t.c.Session(); err == nil && s != nil && s.TeamTask != nil {
			t.app.Notice(taskSetText(*s.TeamTask))
		}
		return nil
	}
	if s := t.c.Session(); s != nil && s.TeamTask != nil {
		t.app.Notice("Task: " + tty.Safe(*s.TeamTask))
		return nil
	}
	t.app.Notice("The team has no task. To set one: /task TEXT")
	return nil
}

func (t *talk) slashRename(title string) error {
	if title == "" {
		t.refuse("A title is missing: /rename TITLE")
		return nil
	}
	err := t.c.Rename(tty.SafeLine(title))
	if errors.Is(err, coordinator.ErrNoSession) {
		err = errors.New("there is nothing to name yet: say something first")
	}
	t.judge(err)
	if err == nil {
		t.app.Notice(renamedText(t.c.Session().Title))
	}
	return nil
}

func (t *talk) slashSessions(string) error {
	list := &sessions.List{Limit: 20, Sort: "updated", Output: "text"}
	t.judge(list.Print(context.Background(), t.app, t.results()))
	return nil
}

// results is where a slash command prints its results: Stderr if Stdout is for the
// lines of the journal alone.
func (t *talk) results() io.Writer {
	if t.screen.JSON {
		return t.app.Stderr
	}
	return t.app.Stdout
}

func (t *talk) slashExport(path string) error {
	s := t.c.Session()
	switch {
	case path == "":
		t.refuse("A file is missing: /export FILE")
		return nil
	case s == nil:
		t.refuse("Nothing was said yet: there is nothing to export.")
		return nil
	}
	written, err := t.export(path)
	if err == nil {
		t.app.Notice("Written: " + tty.SafeLine(written))
	}
	t.judge(err)
	return nil
}

// export writes the session that is going on, wherever it is kept.
func (t *talk) export(path string) (string, error) {
	snapshot, err := t.c.Snapshot(context.Background())
	if err != nil {
		return "", err
	}
	secrets := team.InheritedSecrets()
	for _, m := range t.c.Team().Members {
		secrets = append(secrets, m.Secrets()...)
	}
	redactor := redact.New(secrets)
	app.SnapshotWithout(redactor, snapshot)
	transfer.ReportRedacted(t.app, redactor)
	updated, err := time.Parse(time.RFC3339Nano, snapshot.UpdatedAt)
	if err != nil {
		return "", err
	}
	if path, err = transfer.OutputPath(path, transfer.SnapshotName(updated, snapshot.SessionID)); err != nil {
		return "", err
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return "", app.Exit(app.ExitFailed, notRegularText(path))
	}
	return path, transfer.WriteFile(path, func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(snapshot)
	})
}

func (t *talk) slashTeam(args string) error {
	verb, name, _ := strings.Cut(args, " ")
	switch {
	case verb == "list":
		list := &setup.TeamList{Output: "text"}
		t.judge(list.Print(t.app, t.results()))
		return nil
	case verb == "deploy" && name != "":
		return t.deploy(strings.TrimSpace(name))
	}
	t.refuse("Type /team deploy FILE to talk to another team, or /team list.")
	return nil
}

// deploy ends the conversation and begins one with another team. On a terminal
// a person is asked whether to go on with that team's latest session.
func (t *talk) deploy(name string) error {
	team, err := t.app.LoadTeam(name)
	if err != nil {
		t.judge(err)
		return nil
	}
	resume := ""
	if latest, found := t.previous(team); found && !t.scripted && !t.noSave {
		answer, err := t.askRestore(latest)
		switch {
		case err != nil:
			return err
		case answer == tty.KeyEscape:
			return nil // back to the conversation
		case answer == 'r':
			resume = latest.ID
		}
	}
	p := plan{team: team, store: store.NewFiles(t.app.Catalog), resume: resume}
	if t.noSave {
		p.store = &store.Memory{}
	}
	return t.change(p)
}

// previous is the session that a team could go on with: not the one that goes on.
func (t *talk) previous(team *team.Team) (catalog.Session, bool) {
	c := t.app.Catalog
	list, err := c.List(context.Background(), catalog.Query{Team: team.ID})
	if err != nil {
		t.judge(err)
		return catalog.Session{}, false
	}
	sessions := list.Sessions
	if current := t.c.Session(); current != nil {
		sessions = slices.DeleteFunc(sessions, func(s catalog.Session) bool { return s.ID == current.ID })
	}
	latest, err := t.app.FirstSound(t.app.Compatible(sessions))
	if err != nil && !errors.Is(err, journal.ErrNotFound) {
		t.judge(err)
	}
	return latest, err == nil
}

// askRestore returns 'r', 'n' or keyEscape.
func (t *talk) askRestore(latest catalog.Session) (rune, error) {
	console, ok := t.input.(*tty.Console)
	if !ok {
		return 'n', nil
	}
	question := restoreQuestion(latest.Row, time.Now())
	for {
		fmt.Fprintln(t.app.Stdout, question)
		key, err := console.ReadKey(t.quit)
		switch {
		case err != nil:
			return 0, errEnd
		case key == 'r' || key == 'R':
			return 'r', nil
		case key == 'n' || key == 'N':
			return 'n', nil
		case key == tty.KeyEscape:
			return tty.KeyEscape, nil
		}
		question = "Press R to resume, N to start new, or Escape to go back."
	}
}

// change saves the conversation and begins or goes on with another. What
// cannot be gone on with leaves the conversation as it is.
func (t *talk) change(p plan) error {
	if p.resume != "" {
		log, state, err := p.store.Open(context.Background(), p.team.ID, p.resume)
		if err != nil {
			t.judge(err)
			return nil
		}
		if err := log.Close(state); err != nil {
			t.judge(err)
			return nil
		}
	}
	if err := t.end("another conversation"); err != nil {
		t.judge(err)
	}
	t.sessionFile = ""
	if err := t.begin(p); err != nil {
		t.judge(err)
		return nil
	}
	t.greet()
	return nil
}

func (t *talk) slashResume(name string) error {
	if t.noSave {
		t.refuse("%s", textNoSaveNoResume)
		return nil
	}
	if name == "" {
		var err error
		if name, err = t.chooseSession(); err != nil || name == "" {
			return err
		}
	}
	if name == "--last" || name == "--latest" {
		others := t.recent()
		if len(others) == 0 {
			t.refuse("%s", app.TextNoOthers)
			return nil
		}
		name = others[0].ID
	}
	p, err := planResume(t.app, nil, name)
	if err != nil {
		t.judge(err)
		return nil
	}
	if s := t.c.Session(); s != nil && s.ID == p.resume {
		t.app.Notice("That is the session you are in.")
		return nil
	}
	return t.change(p)
}

// slashFork goes on in a copy, and leaves the session as it is.
func (t *talk) slashFork(seq string) error {
	upTo, err := strconv.ParseUint(cmp.Or(seq, "0"), 10, 64)
	s := t.c.Session()
	switch {
	case err != nil:
		t.refuse("/fork takes the number of an event, as replay --output events shows them: /fork 7")
		return nil
	case s == nil || t.noSave || t.sessionFile != "" || t.c.Status().Unsaved:
		t.refuse("This conversation is not saved: there is nothing to fork.")
		return nil
	}
	fork, err := sessions.ForkSession(context.Background(), t.app, t.app.Catalog.Team(t.c.Team().ID), s.ID, upTo)
	if err != nil {
		t.judge(err)
		return nil
	}
	return t.change(plan{team: t.c.Team(), store: store.NewFiles(t.app.Catalog), resume: fork})
}

// resumable is how many sessions are offered.
const resumable = 10

// recent is what can be gone on with: not the empty ones, not this one, and
// none that is damaged or written by a newer version.
func (t *talk) recent() []catalog.Session {
	list, err := t.app.Catalog.List(context.Background(), catalog.Query{Damaged: catalog.Without})
	if err != nil {
		t.judge(err)
		return nil
	}
	current := t.c.Session()
	return slices.DeleteFunc(list.Sessions, func(s catalog.Session) bool {
		return s.MessageCount == 0 || s.Newer != "" || current != nil && s.ID == current.ID
	})
}

// chooseSession lists the sessions and asks for one; "" when nobody chose.
func (t *talk) chooseSession() (string, error) {
	sessions := t.recent()
	if len(sessions) == 0 {
		t.app.Notice(app.TextNoOthers)
		return "", nil
	}
	sessions = sessions[:min(len(sessions), resumable)]
	if t.scripted {
		t.refuse("Name the session: /resume ID, or /resume --last")
		return "", nil
	}
	fmt.Fprintln(t.app.Stdout, recentText(sessions, time.Now(), tty.Columns(t.app.Stdout)))
	typed, err := t.input.Next("", t.quit)
	if err != nil {
		return "", errEnd
	}
	answer := strings.TrimSpace(typed.Text)
	if n, err := strconv.Atoi(answer); err == nil && n >= 1 && n <= len(sessions) {
		return sessions[n-1].ID, nil
	}
	return answer, nil
}
