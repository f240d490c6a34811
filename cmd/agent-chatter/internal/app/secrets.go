package app

import (
	"fmt"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator/redact"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/interchange"
)

// SecretsReplacedText reports the kinds of secrets that were redacted.
func SecretsReplacedText(kinds []string, n int) string {
	return fmt.Sprintf(
		"Redacted %s before writing or sending: %s. To keep secrets, set \"redaction\": \"off\" in config.json.",
		Count(n, "secret"),
		tty.SafeLine(strings.Join(kinds, ", ")),
	)
}

// Count returns a number with its noun, such as "2 messages".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Bytes returns a number of bytes in the largest unit that keeps it at least 1.
func Bytes(n uint64) string {
	if n < 1<<10 {
		return Count(int(n), "byte")
	}
	size, unit := float64(n), ""
	for _, unit = range []string{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"} {
		if size /= 1 << 10; size < 1<<10 {
			break
		}
	}
	return fmt.Sprintf("%.1f %s", size, unit)
}

// Redactor returns the redactor for the output of a command other than
// chat: nil, which replaces nothing, if redaction is off. A configuration that cannot
// be read does not turn it off.
func (a *App) Redactor(variables []redact.Variable) *redact.Redactor {
	if a.configErr == nil && a.config.KeepSecrets() {
		return nil
	}
	return redact.New(variables)
}

// ReportReplaced prints the kinds of secrets that were replaced, if any.
func (a *App) ReportReplaced(r *redact.Redactor) {
	if found := r.Found(); len(found) > 0 {
		a.Notice(SecretsReplacedText(redact.Kinds(found), len(found)))
	}
}

// RedactImport returns a function that replaces secrets in the records of another
// program's session: those of the environment, too, since the program that wrote the
// session may have had the same.
func (a *App) RedactImport() (redact func(journal.Record) journal.Record, report func()) {
	secrets := a.Redactor(team.InheritedSecrets())
	return func(r journal.Record) journal.Record {
		r.Data = secrets.JSON(r.Data)
		return r
	}, func() { a.ReportReplaced(secrets) }
}

// TeamSource returns the team configuration that a session was created with, or nil if
// the session does not record it or cannot be read.
func TeamSource(d *catalog.Dir, id string) *projection.Source {
	reader, err := d.Journals().Reader(id, journal.Position{})
	if err != nil {
		return nil
	}
	defer reader.Close()
	for first, err := range reader.All() {
		if err != nil {
			return nil
		}
		if first.Type == journal.TypeRecovered {
			continue
		}
		created, err := interchange.Header(first)
		if err != nil {
			return nil
		}
		return created.Team.Source
	}
	return nil
}

// TeamSecrets returns the secrets in a team configuration, as far as it still exists.
func (a *App) TeamSecrets(source *projection.Source) []redact.Variable {
	t, err := team.Load(source.Path, a.Home)
	if err != nil {
		return nil
	}
	var secrets []redact.Variable
	for _, m := range t.Members {
		secrets = append(secrets, m.Secrets()...)
	}
	return secrets
}
