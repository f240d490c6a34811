package transfer

import (
	"errors"
	"io/fs"
	"iter"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/attachment"
	"github.com/agent-chatter/agent-chatter/projection"
)

// messageFiles are the files of the messages of a session for a bundle.
type messageFiles struct {
	x     *sessionExport
	dir   attachment.Dir
	clean map[string][]byte // texts without secrets that had some, by their SHA-256
}

func newMessageFiles(x *sessionExport) (*messageFiles, error) {
	dir, err := x.exporter.app.Catalog.At(x.session.Dir()).Attachments(x.session.ID)
	return &messageFiles{x: x, dir: dir, clean: map[string][]byte{}}, err
}

// events yields events whose messages name the files as the bundle has them: texts without secrets.
func (s *messageFiles) events(events iter.Seq2[journal.Event, error]) iter.Seq2[journal.Event, error] {
	return func(yield func(journal.Event, error) bool) {
		for e, err := range events {
			if err == nil && len(projection.FilesOf(e.Type, e.Data)) > 0 {
				e = s.withoutSecrets(e)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

func (s *messageFiles) withoutSecrets(e journal.Event) journal.Event {
	p, err := projection.Decode(e)
	said, ok := p.(projection.MessageAppended)
	if err != nil || !ok {
		return e
	}
	changed := false
	for i, f := range said.Attachments {
		if !f.IsText() {
			continue
		}
		data, err := s.dir.Read(f.SHA256, f.Bytes)
		if err != nil {
			continue
		}
		if clean := s.x.exporter.redactor.Text(string(data)); clean != string(data) {
			f.SHA256, f.Bytes = attachment.Sum([]byte(clean)), int64(len(clean))
			s.clean[f.SHA256] = []byte(clean)
			said.Attachments[i], changed = f, true
		}
	}
	if changed {
		e.Data = projection.Record(e.Time, said).Data
	}
	return e
}

// content returns the content of a file. One that is missing or damaged is left out, with a notice.
func (s *messageFiles) content(f projection.File) ([]byte, error) {
	if data, ok := s.clean[f.SHA256]; ok {
		return data, nil
	}
	data, err := s.dir.Read(f.SHA256, f.Bytes)
	var damaged *attachment.DamagedError
	if errors.Is(err, fs.ErrNotExist) || errors.As(err, &damaged) {
		s.x.exporter.app.Show(fileLeftOutText(f.Name, s.x.session.ID))
		return nil, nil
	}
	return data, err
}

// fileLeftOutText is for a file of a message whose content is not what it was.
func fileLeftOutText(name, id string) app.Message {
	return app.Text("The content of %s is missing or damaged: the bundle names it without.", tty.SafeLine(name)).
		With(app.To("check the session", "verify", id))
}
