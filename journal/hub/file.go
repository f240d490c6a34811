package hub

import (
	"bytes"
	"context"
	"iter"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/attachment"
)

// A FileReader is a LineReader that knows the files which lines name: those that package attachment keeps for the
// journal. They are shipped before the lines.
type FileReader interface {
	LineReader
	// Files yields the contents of the files that lines name. Those that are missing or damaged are left out.
	Files(lines []byte) iter.Seq2[[]byte, error]
}

// Local is a local journal that is open.
type Local interface {
	LineReader
	Close() error
}

// publishWithFiles publishes lines of the local journal, after the files that they name.
func (w *Writer) publishWithFiles(
	ctx context.Context, local LineReader, from, to journal.Position, lines []byte,
) error {
	if files, ok := local.(FileReader); ok {
		for data, err := range files.Files(lines) {
			if err != nil {
				return err
			}
			if err := w.publishFile(ctx, data); err != nil {
				return err
			}
		}
	}
	// Crash here leaves files on the hub that no line names. They are shipped again with the lines.
	return w.publishLines(ctx, from, to, lines)
}

// publishFile publishes a file in parts.
func (w *Writer) publishFile(ctx context.Context, data []byte) error {
	sum := attachment.Sum(data)
	if w.shipped[sum] {
		return nil
	}
	limit := min(w.hub.maxLines(), shipSize)
	parts := max(1, (len(data)+limit-1)/limit)
	for part := range parts {
		piece := data[part*limit : min(len(data), (part+1)*limit)]
		if err := w.publish(ctx, head{Kind: kindFile, File: sum, Part: part + 1, Parts: parts}, piece); err != nil {
			return err
		}
	}
	if w.shipped == nil {
		w.shipped = map[string]bool{}
	}
	w.shipped[sum] = true
	return nil
}

// fileParts collects the parts of a file, which follow each other.
type fileParts struct {
	first Revision // of the first part; 0: none
	of    head     // the newest part
	data  bytes.Buffer
}

// add adds a part and returns the file when it is complete. Any other part than the next one is dropped, and a first
// one starts again; so is what is not the file that its head names.
func (p *fileParts) add(revision Revision, part head, body []byte) (data []byte, complete bool) {
	switch {
	case part.Part == 1:
		*p = fileParts{first: revision, of: part}
	case p.first == 0 || part.File != p.of.File || part.Part != p.of.Part+1 || part.Parts != p.of.Parts,
		p.data.Len()+len(body) > attachment.MaxBytes:
		*p = fileParts{}
		return nil, false
	}
	p.of = part
	p.data.Write(body)
	if part.Part < part.Parts {
		return nil, false
	}
	data = p.data.Bytes()
	*p = fileParts{}
	return data, len(data) <= attachment.MaxBytes && attachment.Sum(data) == part.File
}

// applyFile adds a part of a file. One that cannot be opened or is not valid has no effect.
func (h *history) applyFile(m Stored, head head) error {
	if h.file == nil {
		return nil
	}
	body, err := h.openBody(m, head)
	if err != nil {
		h.files = fileParts{}
		return nil
	}
	data, complete := h.files.add(m.Revision, head, body)
	if !complete {
		return nil
	}
	return h.file(data)
}

// Files calls keep with the files of a session, whether its journal names them or not. Its errors are those of Fetch,
// and that of keep.
func (h *Hub) Files(ctx context.Context, s Session, keep func(data []byte) error) error {
	read := newHistory(h, s, Mark{})
	read.file = keep
	return read.read(ctx, func(journal.Position, []byte) error { return nil })
}
