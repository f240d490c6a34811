package interchange

import (
	"encoding/json"

	"github.com/agent-chatter/agent-chatter/journal/attachment"
	"github.com/agent-chatter/agent-chatter/projection"
)

// bundlePart is how many bytes of a file a line of a bundle has at most.
const bundlePart = 1 << 20

// A bundledFile is a line with a part of the content of a file. The lines of a file follow each other, before the line
// of the first message that names it.
type bundledFile struct {
	Attachment string `json:"attachment"` // SHA-256 of the whole content
	Part       int    `json:"part"`       // from 1
	Of         int    `json:"of"`
	Data       []byte `json:"data"`
}

// filePrefix is what the line of a file begins with.
const filePrefix = `{"attachment":`

// writeFiles writes the files that an event names, each once.
func (b *BundleWriter) writeFiles(files []projection.File, content func(projection.File) ([]byte, error)) error {
	for _, f := range files {
		if b.written[f.SHA256] {
			continue
		}
		data, err := content(f)
		if err != nil {
			return err
		}
		if data == nil {
			continue
		}
		b.written[f.SHA256] = true
		of := max(1, (len(data)+bundlePart-1)/bundlePart)
		for part := range of {
			piece := data[part*bundlePart : min(len(data), (part+1)*bundlePart)]
			if err := writeLine(b.w, bundledFile{f.SHA256, part + 1, of, piece}); err != nil {
				return err
			}
		}
	}
	return nil
}

// A fileParts joins the parts of a file.
type fileParts struct {
	sum      string
	part, of int
	data     []byte
}

// add adds a line. whole is true if it is the last one of its file, whose content is data then. reason says what is
// wrong with the line; "": nothing.
func (p *fileParts) add(line []byte) (whole bool, reason string) {
	var f bundledFile
	if json.Unmarshal(line, &f) != nil || !attachment.ValidSum(f.Attachment) || f.Part < 1 || f.Of < f.Part {
		return false, "it is not a part of a file"
	}
	if f.Part == 1 {
		*p = fileParts{sum: f.Attachment, of: f.Of}
	}
	if f.Attachment != p.sum || f.Of != p.of || f.Part != p.part+1 {
		return false, "a part of a file is missing before it"
	}
	if p.part, p.data = f.Part, append(p.data, f.Data...); len(p.data) > attachment.MaxBytes {
		return false, "the file is too large"
	}
	if f.Part < f.Of {
		return false, ""
	}
	if attachment.Sum(p.data) != p.sum {
		return false, "checksum mismatch: the file was changed"
	}
	return true, ""
}

// file takes the line of a file.
func (b *bundleReader) file(line []byte) error {
	whole, reason := b.parts.add(line)
	if reason != "" {
		return b.lineError(reason)
	}
	if !whole {
		return nil
	}
	data := b.parts.data
	b.parts = fileParts{}
	if b.keep == nil {
		return nil
	}
	return b.keep(data)
}
