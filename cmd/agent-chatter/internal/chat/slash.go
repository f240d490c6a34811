package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/host"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/keys"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/sessions"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/setup"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/transfer"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/hint"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/projection/search"
)

func taskText(task string) string { return "Team task: " + tty.SafeLines(task) }

func renamedText(title string) string { return "Session renamed to: " + tty.SafeLine(title) }

// A slashCommand is a command of the chat. help is what the menu says; "" for an alias, which the menu omits.
type slashCommand struct {
	name, usage, help string
	readOnly          func(args string) bool // whether it changes nothing, so that it can run during a turn
	run               func(i invocation, ctx context.Context, args string) error
}

// slashCommands returns the commands in the order of the menu.
func slashCommands() []slashCommand {
	always := func(string) bool { return true }
	never := func(string) bool { return false }
	alone := func(args string) bool { return args == "" }
	list := func(args string) bool { return args == "list" }
	return []slashCommand{
		{"/help", "", "list the commands", always, invocation.slashHelp},
		{"/status", "", "show the session and who is next", always, invocation.slashStatus},
		{"/members", "", "list the members of the team", always, invocation.slashMembers},
		{"/model", "[MEMBER [MODEL]]", "show or set the model of an agent", alone, invocation.slashModel},
		{"/permissions", "[MEMBER [VALUE]]", "show or set what an agent may do", alone, invocation.slashPermissions},
		{"/add", "[AGENT [NAME]]", "add an agent for this session", alone, invocation.slashAdd},
		{"/remove", "MEMBER", "remove an agent for this session", never, invocation.slashRemove},
		{"/queue", "", "show who is next, and why", always, invocation.slashQueue},
		{"/context", "", "show how full each agent's context is", always, invocation.slashContext},
		{"/cancel", "[MEMBER]", "cancel the turn of an agent, or all", always, invocation.slashCancel},
		{"/retry", "", "rerun the interrupted turn", never, invocation.slashRetry},
		{"/compact", "[MEMBER] [WHAT MATTERS]", "summarize the messages so far", never, invocation.slashCompact},
		{"/save", "", "save what is not saved yet", never, invocation.slashSave},
		{"/task", "TEXT", "set or show the team's task", alone, invocation.slashTask},
		{"/pin", "", "keep the session from being archived", never, invocation.slashPin},
		{"/unpin", "", "let it be archived again", never, invocation.slashUnpin},
		{"/rename", "TITLE", "rename the session", never, invocation.slashRename},
		{"/usage", "", "show what the members used, and the day", always, invocation.slashUsage},
		{"/budget", "[session.cost=N]", "show the limits; set one for this session", alone, invocation.slashBudget},
		{"/files", "[PATH…]", "review what each turn changed in files", always, invocation.slashFiles},
		{"/rewind", "[WHAT] [X [PATH…]]", "go back: files, conversation or both", never, invocation.slashRewind},
		{"/timeline", "", "show the turns; fork after one", always, invocation.slashTimeline},
		{"/serve", "[ADDRESS:PORT]", "open the web page of this chat", never, invocation.slashServe},
		{"/sessions", "", "browse the sessions", always, invocation.slashSessions},
		{"/search", "TEXT", "search all sessions", always, invocation.slashSearch},
		{"/resume", "[ID|--last|--latest]", "resume another session", never, invocation.slashResume},
		{"/fork", "[X]", "continue in a copy, up to an event", never, invocation.slashFork},
		{"/team", "deploy FILE | list", "switch to another team", list, invocation.slashTeam},
		{"/export", "FILE", "write the session to .html, .md or .json", never, invocation.slashExport},
		{"/keys", "", "list the keys", always, invocation.slashKeys},
		{"/clear", "", "clear the screen", always, invocation.slashClear},
		{"/end", "", "save and end (also /exit, /quit)", never, invocation.slashEnd},
		{"/exit", "", "", never, invocation.slashEnd},
		{"/quit", "", "", never, invocation.slashEnd},
	}
}

// runSlash runs a line that starts with a slash.
func (r *repl) runSlash(ctx context.Context, line string) error {
	command, name, args := parseSlash(line)
	if command != nil {
		r.uses.add(command.name)
	}
	switch {
	case command == nil:
	case command.usage == "" && args != "":
		return r.answer(line, func(i invocation) error {
			i.reject("%s", noArgumentText(command.name))
			return nil
		})
	case command.readOnly(args):
		return r.answer(line, func(i invocation) error { return command.run(i, ctx, args) })
	default:
		r.echo(line)
		return command.run(r.inChat(), ctx, args)
	}
	own, _ := ownCommands(r.app)
	if i := slices.IndexFunc(own, func(c host.OwnCommand) bool { return c.Name == strings.ToLower(name) }); i >= 0 {
		if !own[i].Here { // of each directory there may be others
			r.uses.add(own[i].Name)
		}
		r.echo(line)
		message, err := own[i].Message(ctx, r.teams(ctx), args)
		if err != nil {
			r.report(err)
			return nil
		}
		return r.runTurns(ctx, func(ctx context.Context) error { return r.c.Say(ctx, "", message) })
	}
	var names []string
	for _, s := range slashCommands() {
		names = append(names, s.name)
	}
	for _, c := range own {
		names = append(names, c.Name)
	}
	nearest, _ := hint.Nearest(name, names)
	return r.answer(line, func(i invocation) error {
		i.reject("%s", unknownCommandText(name, nearest, strings.TrimSpace(line)))
		return nil
	})
}

// ownCommands returns the person's own commands, and the paths of those that have the names of built-in ones.
func ownCommands(a *app.App) (all []host.OwnCommand, hidden []string) {
	return host.OwnCommands(a, func(name string) bool {
		command, _, _ := parseSlash(name)
		return command != nil
	})
}

// hiddenCommandsText is for files with the names of built-in commands.
func hiddenCommandsText(paths []string) string {
	return "Not used, since commands of these names are built in: " + tty.SafeLine(strings.Join(paths, ", "))
}

// noArgumentText rejects a command with an argument that it would ignore.
func noArgumentText(name string) string {
	return fmt.Sprintf("%s takes no argument. Type %s.", name, name)
}

// parseSlash returns the command that a line names, nil if it is unknown, and its name and arguments in the line.
func parseSlash(line string) (command *slashCommand, name, args string) {
	line = strings.TrimSpace(line)
	name = line[:strings.IndexFunc(line+" ", unicode.IsSpace)]
	args = strings.TrimSpace(line[len(name):])
	all := slashCommands()
	if i := slices.IndexFunc(all, func(s slashCommand) bool { return strings.EqualFold(s.name, name) }); i >= 0 {
		command = &all[i]
	}
	return command, name, args
}

// runReadOnly runs a command that changes nothing.
func (r *repl) runReadOnly(line string) { _ = r.runSlash(r.turns, line) }

// readOnly reports whether a line is a command that changes nothing, so that it can run during a turn.
func readOnly(line string) bool {
	command, _, args := parseSlash(line)
	return command != nil && command.readOnly(args)
}

// unknownCommandText rejects a line that starts with a slash; nearest is the most similar command, "" if none is
// similar.
func unknownCommandText(name, nearest, line string) string {
	if nearest != "" {
		nearest = fmt.Sprintf(" Did you mean %s?", nearest)
	}
	return fmt.Sprintf("Unknown command %s; nothing was sent.%s /help lists the commands. "+
		"To send the line as a message, type: /%s", tty.SafeLine(name), nearest, tty.SafeLine(line))
}

// What /help says of the keys, and /keys without an input box.
const (
	textKeys      = "Ctrl+C: clear, stop, leave. Escape: stop. Ctrl+D: leave. /keys lists all keys."
	textPlainKeys = `Ctrl+C: stop; twice, or Ctrl+D: leave. A line that ends in \ continues.`
)

// slashKeys lists the keys.
func (r invocation) slashKeys(context.Context, string) error {
	if r.app.Plain || r.scripted {
		r.app.Notice(textPlainKeys)
		return nil
	}
	r.app.Notice(keysText(r.keys))
	return nil
}

// keysText lists the keys and what they do.
func keysText(bindings keys.Bindings) string {
	var b strings.Builder
	for _, action := range keys.Actions() {
		names := cmp.Or(strings.Join(bindings.For(action), ", "), "(none)")
		fmt.Fprintf(&b, "  %-14s %-18s %s\n", action.Name, tty.SafeLine(names), action.Help)
	}
	b.WriteString("  While several agents speak, in an empty input box: Tab and digits choose whose text is shown.\n")
	return b.String() + `"keys" of config.json binds other keys; see agent-chatter guide configuration.`
}

// helpLines are the commands as /help lists them, and what they do.
var helpLines = [][2]string{
	{"/help, /keys, /status, /members, /queue", "commands, keys, session, team, queue"},
	{"/context, /usage, /budget [NAME=N]", "contexts, tokens, cost, limits"},
	{"/model [MEMBER [MODEL]]", "an agent's model, for this session"},
	{"/permissions [MEMBER [VALUE]]", "what an agent may do, likewise"},
	{"/add [AGENT [NAME]], /remove MEMBER", "one agent more or less, likewise"},
	{"/cancel [MEMBER], /retry", "cancel a turn, or all; rerun it"},
	{"/compact [MEMBER] [WHAT MATTERS]", "summarize the messages so far"},
	{"/task TEXT, /rename TITLE, /pin, /unpin", "the team's task; the session's name"},
	{"/files [PATH…], /rewind [X]", "what turns changed in files; go back"},
	{"/timeline, /fork [X]", "the turns; continue in a copy"},
	{"/serve [ADDRESS:PORT]", "this chat in a web browser or phone"},
	{"/sessions, /search TEXT", "browse or search all sessions"},
	{"/resume [ID|--last|--latest]", "resume another session"},
	{"/team deploy FILE | list", "switch to another team"},
	{"/export FILE, /clear", "write .html, .md, .json; clear screen"},
	{"/save, /end, /exit, /quit", "save; save and end"},
}

// ownText lists a person's own commands in one line of /help.
func ownText(own []host.OwnCommand) string {
	const columns = 79
	text := "Your own:"
	for _, c := range own {
		if len(text)+1+len(c.Name) > columns-len(", …") {
			return text + ", …"
		}
		text += " " + c.Name
	}
	return text
}

func (r invocation) slashHelp(context.Context, string) error {
	var b strings.Builder
	b.WriteString("Other lines are messages; // escapes a slash. [NEXT: name] chooses who replies.\n")
	for _, line := range helpLines {
		fmt.Fprintf(&b, "  %-39s %s\n", line[0], line[1])
	}
	if own, _ := ownCommands(r.app); len(own) > 0 {
		b.WriteString(ownText(own) + "\n")
	}
	if r.app.Plain {
		b.WriteString(textPlainKeys)
	} else {
		b.WriteString(textKeys)
	}
	r.app.Notice(b.String())
	return nil
}

func (r *repl) slashEnd(context.Context, string) error { return errEnd }

func (r *repl) slashClear(context.Context, string) error {
	if r.display.console != nil {
		r.display.console.Clear()
	}
	return nil
}

func (r invocation) slashStatus(context.Context, string) error {
	now := r.status()
	s := now.Session
	if s == nil {
		r.app.Notice(fmt.Sprintf("%s: no messages yet; team %s.",
			now.Status.Phase, tty.SafeLine(r.c.Team().DisplayName)))
		return nil
	}
	var entered []string
	if c := r.display.console; c != nil {
		entered = c.Queued()
	}
	r.app.Notice(statusText(now, entered))
	r.showRounds()
	if now.Status.Phase != coordinator.Active {
		r.showInterrupted(s)
	}
	if now.Status.Unsaved {
		r.app.Notice(r.notSavedText())
	}
	return nil
}

// slashSave saves what is only in memory. Otherwise every message was saved when it was appended.
func (r *repl) slashSave(context.Context, string) error {
	switch {
	case r.noSave:
		r.reject("--no-save keeps nothing on disk. To keep the conversation, type: /export FILE")
	case r.c.Session() == nil:
		r.app.Notice("The session has no messages yet; there is nothing to save.")
	case !r.c.Status().Unsaved:
		r.app.Notice("Everything is saved.")
	case r.c.Save() != nil: // the display has printed why
		r.failed.Store(true)
	}
	return nil
}

// showRounds prints the number of agent turns if it is limited.
func (r invocation) showRounds() {
	now := r.status()
	if text := roundsText(now.Had, now.Limit); text != "" {
		r.app.Notice(text)
	}
}

func (r invocation) slashMembers(context.Context, string) error {
	for _, m := range r.c.Team().Members {
		what := m.Type
		if m.AgentType != "" {
			what += ", " + m.AgentType
		}
		r.app.Notice(fmt.Sprintf("  %s (%s): %s",
			tty.SafeLine(m.Name), tty.SafeLine(m.DisplayName), tty.SafeLine(what)))
	}
	return nil
}

func (r invocation) slashQueue(context.Context, string) error {
	now := r.status()
	r.app.Notice(queueText(now.Queued, now.Changes))
	r.showRounds()
	return nil
}

func (r *repl) slashRetry(ctx context.Context, _ string) error {
	return r.runTurns(ctx, func(ctx context.Context) error {
		err := r.c.Retry(ctx)
		if errors.Is(err, coordinator.ErrNothingToRetry) {
			return errors.New("no turn was interrupted: there is nothing to retry")
		}
		return err
	})
}

// slashCompact summarizes the messages for a member, whose name is the first word of args if it is one.
func (r *repl) slashCompact(ctx context.Context, args string) error {
	name, matters := "", args
	first, rest, _ := strings.Cut(args, " ")
	if m, ok := r.c.Team().Match(first); ok {
		name, matters = m.Name, rest
	}
	return r.runTurns(ctx, func(ctx context.Context) error {
		err := r.c.Summarize(ctx, name, matters)
		if errors.Is(err, coordinator.ErrNoSession) {
			return errors.New("the session has no messages yet; send one first")
		}
		if keeps, ok := errors.AsType[*coordinator.KeepsSessionError](err); ok {
			return app.Exit(app.ExitFailed, app.Message{Text: keepsSessionText(keeps, r.c.Team())})
		}
		return err
	})
}

// keepsSessionText says what helps for a member whose messages are not summarized.
func keepsSessionText(err *coordinator.KeepsSessionError, t *team.Team) string {
	text := app.Sentence(err) + ".\nTo continue after an earlier turn, without the later ones, type: /timeline\n" +
		"To begin each turn with only the newest messages, set \"memory\" of the member to \"window\""
	if t.Source != nil {
		text += " in " + tty.SafeLine(app.ShortPath(t.Source.Path))
	}
	return text + "."
}

func (r invocation) slashTask(_ context.Context, text string) error {
	if text != "" {
		err := r.c.SetTask(text)
		r.report(err)
		if s := r.c.Session(); err == nil && s != nil && s.TeamTask != nil {
			r.app.Notice(taskText(*s.TeamTask))
		}
		return nil
	}
	if s := r.status().Session; s != nil && s.TeamTask != nil {
		r.app.Notice(taskText(*s.TeamTask))
		return nil
	}
	r.app.Notice("The team has no task. Type /task TEXT to set one.")
	return nil
}

func (r *repl) slashRename(_ context.Context, title string) error {
	if title == "" {
		r.reject("A title is missing. Type /rename TITLE.")
		return nil
	}
	title, err := app.Title(title)
	if err == nil {
		err = r.c.Rename(title)
	}
	if errors.Is(err, coordinator.ErrNoSession) {
		err = errors.New("the session has no messages yet; send one first")
	}
	r.report(err)
	if err == nil {
		r.app.Notice(renamedText(r.c.Session().Title))
	}
	return nil
}

func (r *repl) slashPin(context.Context, string) error { return r.pin(true) }

func (r *repl) slashUnpin(context.Context, string) error { return r.pin(false) }

func (r *repl) pin(pinned bool) error {
	err := r.c.Pin(pinned)
	if errors.Is(err, coordinator.ErrNoSession) {
		err = errors.New("the session has no messages yet; send one first")
	}
	r.report(err)
	if err == nil {
		r.app.Notice(pinnedText(pinned))
	}
	return nil
}

func pinnedText(pinned bool) string {
	if pinned {
		return "The session is pinned: it is neither archived nor deleted automatically."
	}
	return "The session is not pinned any more."
}

// slashSessions opens the browser. During a turn, and without a terminal of its own, it prints the list.
func (r invocation) slashSessions(ctx context.Context, _ string) error {
	if r.display.console != nil && ctx != r.turns {
		return r.browse(ctx, "")
	}
	list := &sessions.List{Limit: 20, Sort: "updated", Output: "text"}
	r.report(list.Print(ctx, r.app, r.results()))
	return nil
}

// results returns the writer for the results of slash commands: Stderr if Stdout has only
// lines of the journal.
func (r invocation) results() io.Writer {
	if r.display.JSON {
		return r.app.Stderr
	}
	return r.app.Stdout
}

func (r *repl) slashExport(ctx context.Context, path string) error {
	s := r.c.Session()
	switch {
	case path == "":
		r.reject("A file is missing. Type /export FILE.")
		return nil
	case s == nil:
		r.reject("The session has no messages yet; there is nothing to export.")
		return nil
	case r.manualSave && r.c.Status().Unsaved:
		r.reject("%s", r.notSavedText())
		return nil
	}
	stored, _ := r.saved(ctx) // zero: it is in memory
	text, err := transfer.WriteRunning(ctx, r.app, r.c, stored, path)
	if err == nil {
		r.app.Notice(text)
	}
	r.report(err)
	return nil
}

func (r invocation) slashTeam(ctx context.Context, args string) error {
	verb, name, _ := strings.Cut(args, " ")
	switch {
	case args == "list":
		list := &setup.TeamList{Output: "text"}
		r.report(list.Print(r.app, r.results()))
		return nil
	case verb == "deploy" && name != "":
		return r.deploy(ctx, strings.TrimSpace(name))
	}
	r.reject("Type /team deploy FILE to switch to another team, or /team list.")
	return nil
}

// slashSearch searches in the browser. During a turn, and without a terminal of its own, it prints what
// sessions search does.
func (r invocation) slashSearch(ctx context.Context, text string) error {
	if text == "" {
		r.reject("A text is missing. Type /search TEXT.")
		return nil
	}
	if r.display.console != nil && ctx != r.turns {
		return r.browse(ctx, text)
	}
	find := &sessions.Search{Text: text, Limit: 20, Output: "text"}
	r.report(find.Search(ctx, r.app, r.results(), search.Query{Text: text}))
	return nil
}
