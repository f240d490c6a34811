package transfer

import (
	"encoding/json"
	"io"
	"os"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator/redact"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/projection"
)

// noPipeText is for a destination that is not a regular file: writing to a pipe would
// block the chat.
func noPipeText(path string) app.Message {
	return app.Text("%s is not a regular file. A chat exports only to files.", tty.SafeLine(path)).
		With(app.To("export elsewhere", "sessions", "export", "latest", "-o", path))
}

// WriteSnapshot writes the snapshot of a running conversation to a file, or to a file in a directory,
// without the secrets of its team, which it removes from s. It returns the path of the file.
func WriteSnapshot(a *app.App, t *team.Team, s *projection.Snapshot, path string) (string, error) {
	secrets := team.InheritedSecrets()
	for _, m := range t.Members {
		secrets = append(secrets, m.Secrets()...)
	}
	redactor := redact.New(secrets)
	app.SnapshotWithout(redactor, s)
	ReportRedacted(a, redactor)
	updated, err := time.Parse(time.RFC3339Nano, s.UpdatedAt)
	if err != nil {
		return "", err
	}
	if path, err = OutputPath(path, SnapshotName(updated, s.SessionID)); err != nil {
		return "", err
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return "", app.Exit(app.ExitFailed, noPipeText(path))
	}
	return path, WriteFile(path, func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(s)
	})
}
