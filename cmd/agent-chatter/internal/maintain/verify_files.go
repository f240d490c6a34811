package maintain

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/journal/attachment"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// checkFiles fails a session that is intact if the content of a file of a message is missing or differs: the first one
// is described. It does nothing unless stored is true. Its error is that of ctx.
func (v *verdict) checkFiles(ctx context.Context, team *catalog.Dir, stored bool) error {
	dir, err := team.Attachments(v.ID)
	if err != nil || !v.OK || !stored {
		return nil
	}
	wrong := 0
	for _, f := range v.files {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		_, err := dir.Read(f.SHA256, f.Bytes)
		if err == nil {
			continue
		}
		if wrong++; wrong == 1 {
			v.sumsMatch, v.Problem, v.help = true, fileProblem(f, err), textFileHelp
			v.unreadable = catalog.IsReadError(err) && !errors.Is(err, fs.ErrNotExist)
		}
	}
	if v.OK = wrong == 0; wrong > 1 {
		v.Problem += fmt.Sprintf(" (and %s more)", app.Count(wrong-1, "file"))
	}
	return nil
}

// A messageFile is a file of a message, and the event that names it.
type messageFile struct {
	projection.File
	seq uint64
}

// fileProblem says what is wrong with the content of a file.
func fileProblem(f messageFile, err error) string {
	reason := err.Error()
	var damaged *attachment.DamagedError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		reason = "it is missing"
	case errors.As(err, &damaged):
		reason = damaged.Reason
	}
	return fmt.Sprintf("the file %s of event %d: %s", projection.FileName(f.Name), f.seq, reason)
}

const textFileHelp = "The conversation is intact. Restore the file in the directory .attachments of the session from " +
	"a backup, pull the session from a hub, or import a bundle that has it."
