package replica

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"iter"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/attachment"
	"github.com/agent-chatter/agent-chatter/projection"
)

// A Journal is the journal of a session with the files of its messages. It implements hub.FileReader and hub.Local.
type Journal struct {
	*journal.Reader
	files attachment.Dir
}

// Journal returns the journal of the session, which a reader reads, with the files of its messages.
func (r Replica) Journal(reader *journal.Reader) (*Journal, error) {
	files, err := r.Dir.Attachments(r.ID)
	return &Journal{reader, files}, err
}

// Files implements hub.FileReader.
func (j *Journal) Files(lines []byte) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for f := range filesOf(lines) {
			data, err := j.files.Read(f.SHA256, f.Bytes)
			if isLost(err) {
				continue
			}
			if !yield(data, err) || err != nil {
				return
			}
		}
	}
}

// isLost reports whether the content of a file is missing or damaged.
func isLost(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.As(err, new(*attachment.DamagedError))
}

// filesOf yields the files that lines of a journal name.
func filesOf(lines []byte) iter.Seq[projection.File] {
	return func(yield func(projection.File) bool) {
		for line := range bytes.Lines(lines) {
			if !bytes.Contains(line, []byte(`"attachments":`)) {
				continue
			}
			var e journal.Event
			if json.Unmarshal(line, &e) != nil {
				continue
			}
			for _, f := range projection.FilesOf(e.Type, e.Data) {
				if !yield(f) {
					return
				}
			}
		}
	}
}

// lacksFiles reports whether the content of a file of a message is missing or damaged here.
func (r Replica) lacksFiles(ctx context.Context) (bool, error) {
	files, err := r.Dir.Attachments(r.ID)
	if err != nil {
		return false, err
	}
	reader, err := r.reader()
	if err != nil || reader == nil {
		return false, err
	}
	defer reader.Close()
	named := []byte(`"attachments":`)
	for e, err := range reader.Grep(func(lines []byte) int {
		if ctx.Err() != nil {
			return -1
		}
		return bytes.Index(lines, named)
	}) {
		if err != nil {
			return false, err
		}
		for _, f := range projection.FilesOf(e.Type, e.Data) {
			if _, err := files.Read(f.SHA256, f.Bytes); isLost(err) {
				return true, nil
			}
		}
	}
	return false, ctx.Err()
}

// PullFiles fetches the files of the session's messages that are missing or damaged here, as far as the hub has them.
// It reads the whole history only if there are some.
func (r Replica) PullFiles(ctx context.Context) error {
	lacks, err := r.lacksFiles(ctx)
	if err != nil || !lacks {
		return err
	}
	files, err := r.Dir.Attachments(r.ID)
	if err != nil {
		return err
	}
	return r.Hub.Files(ctx, r.Session(), func(data []byte) error {
		_, err := files.Write(data)
		return err
	})
}
