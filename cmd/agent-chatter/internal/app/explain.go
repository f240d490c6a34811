package app

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/home"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/hint"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/regularfile"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/schemas"
)

// Explain returns what failed, on what and why, and the commands that help. It is empty
// for a command that the user interrupted.
func Explain(err error) Message {
	var exit *ExitError
	var ambiguous *catalog.AmbiguousError
	var notFound *catalog.NotFoundError
	var mismatch *store.TeamMismatchError
	var upgrade *store.UpgradeError
	var locked *journal.LockedError
	var corrupt *journal.CorruptError
	var header *catalog.MissingHeaderError
	var tooLong *journal.TooLongError
	var noTeam *team.NotFoundError
	var unnamed *coordinator.WhoSpeaksError
	var file *FileError
	var output *OutputError
	var settings *home.ConfigError
	var others *home.OthersError
	errors.As(err, &file)
	switch {
	case errors.As(err, &exit):
		return exit.Message
	case errors.As(err, &output):
		return Message{Text: Sentence(output) + textIncomplete}
	case errors.As(err, &settings):
		return Message{Text: Sentence(settings) + "\n" + TextCorrectConfig}.With(ToListSettings)
	case errors.As(err, &others):
		return othersText(others)
	case errors.As(err, &unnamed):
		return whoSpeaksText(unnamed)
	case errors.As(err, &ambiguous):
		return ambiguousText(ambiguous)
	case errors.As(err, &notFound):
		return notFoundText(notFound)
	case errors.As(err, &mismatch):
		return Message{Text: mismatchText(mismatch)}
	case errors.As(err, &upgrade):
		return upgradeText(upgrade)
	case errors.As(err, &locked):
		return lockedText(locked, file)
	case errors.As(err, &corrupt):
		return corruptText(corrupt, file)
	case errors.As(err, &header):
		return missingHeaderText(header, file)
	case errors.As(err, &noTeam):
		return noTeamText(noTeam)
	case errors.Is(err, coordinator.ErrNoTeam):
		return Message{Text: "Team must be set before restoring session"}
	case errors.Is(err, team.ErrAgentNotFound):
		return Message{Text: Sentence(err)}.With(To("list the agents", "agents", "list"))
	case errors.As(err, &tooLong):
		return tooLongText(tooLong)
	case errors.Is(err, coordinator.ErrNotDelivered):
		return Message{Text: textNotDelivered}
	case errors.Is(err, context.Canceled):
		return Message{}
	}
	if m := explainHub(err); m.Text != "" {
		return m
	}
	return Message{Text: Sentence(err) + remedyAnywhere(err)}.With(helpFor(err)...)
}

// helpFor returns the commands that help with an error that Explain does not know.
func helpFor(err error) []Help {
	var invalid *schemas.InvalidError
	if errors.As(err, &invalid) && guidePages[invalid.Schema] != "" {
		return []Help{To("read about the fields", "guide", guidePages[invalid.Schema])}
	}
	if h, ok := hint.Of(err); ok {
		return []Help{{Purpose(h), h}}
	}
	var path *fs.PathError
	var kind *regularfile.KindError
	if errors.As(err, &path) && errors.As(err, &kind) && IsJournal(path.Path) {
		target, linkErr := filepath.EvalSymlinks(path.Path)
		if linkErr == nil && target != path.Path && IsJournal(target) && !IsArchive(target) {
			return []Help{To("continue it where it is", "chat", "--session-file", target)}
		}
	}
	return nil
}

// guidePages are the pages of the manual about files that users write, by their schemas.
var guidePages = map[string]string{
	schemas.CLIConfig: "teams", schemas.AgentRegistry: "agents",
	schemas.SessionSnapshot: "import", schemas.Trust: "trust",
}

// Purpose returns what the hint of an error is for, if the error does not say it.
func Purpose(h hint.Hint) string {
	switch h.Argv[0] {
	case "command":
		return "look for it in PATH"
	case "chmod":
		return "make it executable"
	case "chat":
		return "continue with a higher limit"
	}
	return "fix this"
}

// Texts that several commands print.
const (
	textIncomplete    = "\nThe output is incomplete. Free space at its destination, or redirect it elsewhere."
	TextNotSaved      = "This conversation is not being saved. The next message retries."
	TextCorrectConfig = "Correct the file or move it away to start a chat."
	textNotDelivered  = "No member received the message; it is in the session."
)

// ToListSettings is the command that lists the settings of config.json.
var ToListSettings = To("list the settings", "guide", "configuration")

// whoSpeaksText explains how a message names its sender in a team of several people.
func whoSpeaksText(e *coordinator.WhoSpeaksError) Message {
	return Text("The team has several people, and the message names no sender: %s.\n"+
		"Nothing was sent. Start the message with a name, such as: [FROM: %s] hello",
		tty.SafeLine(strings.Join(e.Humans, ", ")), tty.SafeLine(e.Humans[0]))
}

// Sentence returns an error as text that is safe for a terminal. It starts with a
// capital, unless the first word is the name of a file.
func Sentence(err error) string {
	text := Reason(err)
	word := strings.TrimRight(strings.SplitN(text, " ", 2)[0], ":,")
	if word == "" || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz") != "" {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// Reason returns the text of an error for a terminal, as a part of a message. It is one line, whatever values are in
// it, except for errors that list problems.
func Reason(err error) string {
	var invalid *schemas.InvalidError
	var settings *home.ConfigError
	text := err.Error()
	switch {
	case errors.As(err, &invalid): // it escapes the line breaks of its values
		if before, after, ok := strings.Cut(text, invalid.Error()); ok {
			return tty.SafeLine(before) + tty.Safe(invalid.Error()) + tty.SafeLine(after)
		}
	case errors.As(err, &settings) && len(settings.Problems) > 1:
		var b strings.Builder
		b.WriteString(tty.SafeLine(settings.Path) + ":")
		for _, problem := range settings.Problems {
			b.WriteString("\n  - " + tty.SafeLine(problem))
		}
		return b.String()
	}
	return tty.SafeLine(text)
}
