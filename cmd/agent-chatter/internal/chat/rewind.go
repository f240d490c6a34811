package chat

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/clipperhouse/displaywidth"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/console"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/filechanges"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// The first arguments of /rewind that say what goes back.
const (
	rewindFiles        = "files"
	rewindConversation = "conversation"
	rewindBoth         = "both"
)

// A rewind is what /rewind is asked to do.
type rewind struct {
	at    string   // the event after which all was as wanted: a number, a time or turn:N
	undo  bool     // set the files back to before the last restore
	paths []string // of the files; none: all
	what  string   // one of the arguments above; "": not chosen yet
	text  string   // of the message before which all goes back; "": at was typed
}

func parseRewind(args string) (w rewind) {
	fields := strings.Fields(args)
	if len(fields) > 0 && slices.Contains([]string{rewindFiles, rewindConversation, rewindBoth}, fields[0]) {
		w.what, fields = fields[0], fields[1:]
	}
	switch {
	case len(fields) == 0:
	case fields[0] == "undo":
		w.undo, w.paths = true, fields[1:]
	default:
		w.at, w.paths = fields[0], fields[1:]
	}
	return w
}

// slashRewind goes back to after an event: the files, the conversation, which a fork continues, or both. A message that
// is undone so is in the input box then.
func (r invocation) slashRewind(ctx context.Context, args string) error {
	w := parseRewind(args)
	s, err := r.saved(ctx)
	switch {
	case err != nil:
		r.report(err)
		return nil
	case w.at == "" && !w.undo && r.noKeys():
		r.reject("%s", textRewindWhere)
		return nil
	case w.undo && (w.what == rewindConversation || w.what == rewindBoth):
		r.reject("%s", textUndoFilesOnly)
		return nil
	case w.at == "" && !w.undo:
		point, ok, err := r.choosePoint(ctx, s)
		if err != nil || !ok {
			r.report(err)
			return nil
		}
		w.at, w.text = strconv.FormatUint(point.before, 10), point.text
	}
	forks := w.what == rewindConversation
	if !forks {
		forks, err = r.rewindFiles(ctx, s, w)
		r.report(err)
	}
	if err != nil || !forks {
		return nil
	}
	if err := r.slashFork(ctx, w.at); err != nil {
		return err
	}
	forked := r.c.Session() != nil && r.c.Session().ID != s.ID
	if c := r.display.console; c != nil && forked {
		c.Change(func(m *console.Model) { m.Return([]string{w.text}) })
	}
	return nil
}

// rewindFiles sets files back, if that is chosen. It returns whether the conversation goes back, too: not if a file
// failed.
func (r invocation) rewindFiles(ctx context.Context, s catalog.Session, w rewind) (forks bool, err error) {
	restore := filechanges.Restore{Undo: w.undo, Paths: w.paths, Record: r.c.RecordRestore}
	p, err := restore.Prepare(ctx, r.app, s, w.at)
	if err != nil {
		if w.what != "" || w.undo || r.noKeys() {
			return false, err
		}
		r.report(err)
		return r.choose(ctx, rewindChoices(false, true)) == 'c', nil
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	r.app.Notice(p.Text())
	if w.what == "" {
		w.what = r.chooseRewind(ctx, p, w)
	}
	if w.what == "" || w.what == rewindConversation {
		return w.what != "", nil
	}
	result, err := p.Run(ctx)
	if problems := p.Problems(result); problems != "" {
		r.app.Notice(problems)
	}
	forks = w.what == rewindBoth && err == nil
	if forks && len(result.Failed) > 0 {
		r.reject("%s", notForkedText(w.at))
		return false, nil
	}
	return forks, err
}

// chooseRewind asks what goes back; "" is nothing. Without a user it says what to type.
func (r invocation) chooseRewind(ctx context.Context, p *filechanges.Prepared, w rewind) (what string) {
	if r.noKeys() {
		r.app.Notice(rewindHowText(w))
		return ""
	}
	choices := rewindChoices(p.Changes(), !w.undo)
	if len(choices) == 1 {
		return ""
	}
	switch r.choose(ctx, choices) {
	case 'f':
		return rewindFiles
	case 'c':
		return rewindConversation
	case 'b':
		return rewindBoth
	}
	return ""
}

// rewindChoices are what can go back. The last one is nothing.
func rewindChoices(files, conversation bool) (all []console.KeyChoice) {
	if files {
		all = append(all, console.KeyChoice{Key: 'f', Text: "[F] Set the files back"})
	}
	if conversation {
		all = append(all, console.KeyChoice{Key: 'c', Text: "[C] Go back in the conversation"})
	}
	if files && conversation {
		all = append(all, console.KeyChoice{Key: 'b', Text: "[B] Both"})
	}
	return append(all, console.KeyChoice{Key: tty.KeyEscape, Text: "[Esc] Neither"})
}

// choose asks for one of the choices, and returns its key; tty.KeyEscape is also the end of the input.
func (r *repl) choose(ctx context.Context, choices []console.KeyChoice) rune {
	if r.display.console != nil {
		question := console.Question{Choices: choices, Again: textChooseAgain}
		for _, key := range r.display.console.Ask(question, ctx.Done()) {
			return key
		}
		return tty.KeyEscape
	}
	var texts []string
	for _, c := range choices {
		texts = append(texts, c.Text)
	}
	for {
		r.app.Notice(strings.Join(texts, "  "))
		key, err := r.readKey(ctx)
		if err != nil {
			return tty.KeyEscape
		}
		isKey := func(c console.KeyChoice) bool { return strings.EqualFold(string(c.Key), string(key)) }
		if i := slices.IndexFunc(choices, isKey); i >= 0 {
			return choices[i].Key
		}
		r.app.Notice(textChooseAgain)
	}
}

// A rewindPoint is a message of a person before which all can go back.
type rewindPoint struct {
	before      uint64 // the last event before the message
	text        string
	time        time.Time
	files       int // that turns after it changed, up to the next message of a person
	plus, minus int
}

// rewindPoints returns the messages of people, the newest last, at most maxKeys.
func rewindPoints(ctx context.Context, a *app.App, s catalog.Session) (points []rewindPoint, err error) {
	for e, err := range view.NewReplay(a, s).Events(ctx) {
		if err != nil {
			return nil, err
		}
		switch p := projection.DecodeEvent(e).Payload.(type) {
		case projection.MessageAppended:
			if p.Message.Speaker.Type != projection.TypeHuman {
				continue
			}
			points = append(points, rewindPoint{before: e.Seq - 1, text: p.Message.Content, time: e.Time})
			points = points[max(0, len(points)-maxKeys):]
		case projection.FilesChanged:
			if n := len(points); n > 0 {
				last, plus, minus := &points[n-1], 0, 0
				plus, minus = p.Lines()
				last.files += p.Added + p.Modified + p.Deleted
				last.plus, last.minus = last.plus+plus, last.minus+minus
			}
		}
	}
	return points, nil
}

// choosePoint asks before which message all goes back. ok is false if none is chosen.
func (r invocation) choosePoint(ctx context.Context, s catalog.Session) (chosen rewindPoint, ok bool, err error) {
	points, err := rewindPoints(ctx, r.app, s)
	if err != nil {
		return chosen, false, err
	}
	if len(points) == 0 {
		return chosen, false, errors.New(textNoPoints)
	}
	r.app.Notice(rewindPointsText(points, time.Now(), tty.Columns(r.app.Stdout)))
	var choices []console.KeyChoice
	for i := range points {
		n := strconv.Itoa(i + 1)
		choices = append(choices, console.KeyChoice{Key: rune(n[0]), Text: "[" + n + "]"})
	}
	key := r.choose(ctx, append(choices, console.KeyChoice{Key: tty.KeyEscape, Text: "[Esc] Cancel"}))
	if key == tty.KeyEscape {
		return chosen, false, nil
	}
	return points[key-'1'], true, nil
}

// rewindPointsText lists messages, each on a line of a terminal; columns is 0 for no limit.
func rewindPointsText(points []rewindPoint, now time.Time, columns int) string {
	var b strings.Builder
	b.WriteString("Go back to before which message?")
	for i, p := range points {
		prefix := fmt.Sprintf("  %d. ", i+1)
		suffix := fmt.Sprintf(" (%s)", app.Age(p.time, now))
		if p.files > 0 {
			suffix += fmt.Sprintf("  %s +%d −%d", app.Count(p.files, "file"), p.plus, p.minus)
		}
		text := tty.SafeLine(p.text)
		if columns > 0 {
			width := columns - 1 - displaywidth.String(prefix+suffix)
			text = displaywidth.TruncateString(text, max(width, tty.LeastShown), "…")
		}
		b.WriteString("\n" + prefix + text + suffix)
	}
	return b.String()
}

// setFilesBack sets files back to after the event up to which a session is forked.
func (cmd *Command) setFilesBack(ctx context.Context, r *repl, s catalog.Session) error {
	if cmd.At == "" { // of ID#N, the name had it
		return app.UsageError("--files sets files back to after an event: add --at X.")
	}
	p, err := (&filechanges.Restore{}).Prepare(ctx, r.app, s, cmd.At)
	if err != nil {
		return err
	}
	defer p.Close()
	r.app.Notice(p.Text())
	if !p.Changes() {
		return nil
	}
	if !r.scripted {
		if yes, err := r.app.Confirm("Set these files back?"); err != nil || !yes {
			return errors.Join(err, app.Exit(app.ExitFailed, app.Text(textNotSetBack)))
		}
	}
	result, err := p.Run(ctx)
	if problems := p.Problems(result); problems != "" {
		r.app.Notice(problems)
	}
	if err == nil && len(result.Failed) > 0 {
		err = app.Exit(app.ExitFailed, app.Text(textNotCopied))
	}
	return err
}

const (
	textRewindWhere   = "Type an event, such as: /rewind turn:1, or /rewind undo to undo the last time."
	textUndoFilesOnly = "undo is for files: the conversation that /rewind left is still there. Type /resume to list it."
	textNotSetBack    = "Nothing was changed. To continue a copy with the files as they are, leave out --files."
	textNotCopied     = "A file could not be set back, so the session was not copied."
	textChooseAgain   = "Type the key of a choice, or press Escape."
	textNoPoints      = "there is no message of a person to go back to; type: /rewind turn:1"
)

// rewindHowText says what to type without a terminal.
func rewindHowText(w rewind) string {
	where := w.at
	if w.undo {
		where = "undo"
	}
	where = tty.SafeLine(strings.Join(append([]string{where}, w.paths...), " "))
	text := fmt.Sprintf("To set these files back, type: /rewind %s %s", rewindFiles, where)
	if !w.undo {
		text += fmt.Sprintf("\nTo go back in the conversation, too, type: /rewind %s %s", rewindBoth, where)
	}
	return text
}

// notForkedText is for files that failed.
func notForkedText(at string) string {
	return "A file could not be set back, so the conversation stays. To go back in it alone, type: /fork " +
		tty.SafeLine(at)
}
