package interchange

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// What Detect returns for a file that is no transcript: sessions with their own
// ids, the configuration of a team, which is no session, and an export that cannot be imported.
const (
	JournalFormat  = "journal"
	BundleFormat   = "bundle"
	SnapshotFormat = "snapshot"
	TeamFile       = "team"
	ExportFormat   = "export" // what "sessions export --format json" writes
)

// A file is searched up to these limits, in bytes. Longer lines are skipped.
const (
	detectLine = 1 << 20
	detectFile = 256 << 20
)

// Detect returns the format of a file, "" if it is unknown: that of a transcript,
// or one of the constants above. It reads until one line, or the fields of the
// object that is the whole file, tell the format. Errors: those of r.
func Detect(r io.Reader) (string, error) {
	file := &failingReader{r: io.LimitReader(r, detectFile)}
	format := detect(utf8Text(file))
	if format != "" {
		return format, nil
	}
	return "", file.err
}

// failingReader remembers an error of r other than io.EOF.
type failingReader struct {
	r   io.Reader
	err error
}

func (f *failingReader) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if err != io.EOF {
		f.err = err
	}
	return n, err
}

func detect(file *bufio.Reader) string {
	start, _ := file.Peek(detectLine)
	_, _ = file.Discard(objectStart(start)) // what was peeked
	start, _ = file.Peek(detectLine)
	start = trimSeparators(start)
	line, _, _ := bytes.Cut(start, []byte("\n"))
	format, complete := detectObject(json.NewDecoder(bytes.NewReader(line)))
	switch {
	case format != "":
		return format
	case complete || !bytes.HasPrefix(line, []byte("{")):
		return detectLines(file)
	}
	start = bytes.Clone(start)
	object := json.NewDecoder(file)
	switch format, complete := detectObject(object); {
	case format != "":
		return format
	case complete:
		return detectLines(io.MultiReader(object.Buffered(), file))
	}
	return detectLines(bytes.NewReader(start)) // the first line is damaged
}

// detectLines returns the format of a file with objects on its lines.
func detectLines(r io.Reader) (format string) {
	_ = eachPiece(r, detectLine, func(piece []byte) bool {
		format, _ = detectObject(json.NewDecoder(bytes.NewReader(piece)))
		return format == ""
	})
	return format
}

// detectObject returns the format that the fields of an object tell. It reads no
// more of them than it needs; without a format, complete reports whether the
// object was read to its end.
func detectObject(d *json.Decoder) (format string, complete bool) {
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return "", false
	}
	o := Fields{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return "", false
		}
		o[name.(string)] = ""
		if format := o.format(); format != "" {
			return format, false
		}
		if o[name.(string)], err = readValue(d); err != nil {
			return "", false
		}
		if format := o.format(); format != "" {
			return format, false
		}
	}
	if _, err := d.Token(); err != nil {
		return "", false
	}
	return o.formatOfAll(), true
}

// maxDepth is how deep the values of a file may be nested: a decoder needs memory for
// each level. Package json has the same limit for values.
const maxDepth = 10_000

// readValue reads a value and returns it if it is a string.
func readValue(d *json.Decoder) (text string, err error) {
	for depth := 0; ; {
		token, err := d.Token()
		if err != nil {
			return "", err
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		switch depth {
		case maxDepth:
			return "", errors.New("nested too deep")
		case 0:
			text, _ = token.(string)
			return text, nil
		}
	}
}

// format returns the format of an object that has at least these fields.
func (o Fields) format() string {
	switch {
	case o.Has("bundle"):
		return BundleFormat
	case o.Has("seq", "time", "type"):
		return JournalFormat
	case o.Has("id", "team", "createdAt", "messageCount"):
		return ExportFormat
	}
	for _, f := range formats {
		if f.Detect != nil && f.Detect(o) {
			return f.Name
		}
	}
	if o.Has("teamId", "sessionId") || o.Has("schemaVersion", "context") {
		return SnapshotFormat
	}
	return ""
}

// formatOfAll returns the format of an object that has only these fields.
func (o Fields) formatOfAll() string {
	for _, f := range formats {
		if f.DetectWhole != nil && f.DetectWhole(o) {
			return f.Name
		}
	}
	switch {
	case o.Has("team") && !o.Has("sessionId"):
		return TeamFile
	case o.Has("schemaVersion") && !o.Has("agents"):
		return SnapshotFormat
	}
	return ""
}
