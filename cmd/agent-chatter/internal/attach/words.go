package attach

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"image"
	_ "image/gif" // the formats of imageType
	_ "image/jpeg"
	_ "image/png"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/journal/attachment"
	"github.com/agent-chatter/agent-chatter/journal/regularfile"
	"github.com/agent-chatter/agent-chatter/projection"
)

// maxScanned is how much of a file is read to find lines in it, in bytes.
const maxScanned = 256 << 20

// An Error says why a file cannot be attached.
type Error struct {
	Word   string // as in the message
	Reason string
}

func (e *Error) Error() string { return e.Word + " cannot be attached: " + e.Reason }

// The reasons.
const (
	reasonOutside = "it is outside of the working directory. The path of a picture can be pasted without @"
	reasonBinary  = "it is neither text nor a picture (PNG, JPEG, GIF, WebP). " +
		"Write its path without @, so that agents with tools can open it"
	reasonNoLines = "the file has no such lines"
)

// Files returns the files that the words of a message attach, in the order of their words. dir is the working
// directory; isMember reports whether a name is that of a member. The error is an *Error.
func Files(text, dir string, isMember func(name string) bool) (files []coordinator.File, err error) {
	if !strings.Contains(text, "@") {
		return nil, nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil // without it, there are no files
	}
	defer root.Close()
	attached := map[string]bool{}
	for _, word := range words(text) {
		if isMember(strings.TrimRight(word, trailing)) {
			continue
		}
		f, found, err := find(root, dir, word)
		if err != nil {
			return nil, err
		}
		if found && !attached[f.Name] {
			attached[f.Name] = true
			files = append(files, f)
		}
	}
	return files, nil
}

// trailing is what may follow a path in a sentence.
const trailing = ",:;.!?)]}\"'`"

// words returns what follows an @ at the start of a word.
func words(text string) (found []string) {
	for _, word := range strings.FieldsFunc(text, unicode.IsSpace) {
		if name, ok := strings.CutPrefix(strings.TrimLeft(word, "([{\"'`"), "@"); ok && name != "" {
			found = append(found, name)
		}
	}
	return found
}

// lineRange is a part of a file.
type lineRange struct{ first, last int }

var rangePattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(.+):([0-9]{1,9})(?:-([0-9]{1,9}))?$`)
})

// find returns the file that a word names. found is false for a word that names none.
func find(root *os.Root, dir, word string) (f coordinator.File, found bool, err error) {
	for _, name := range []string{word, strings.TrimRight(word, trailing)} {
		if f, found, err = named(root, dir, name, lineRange{}); found || err != nil {
			return f, found, err
		}
		part := rangePattern().FindStringSubmatch(name)
		if part == nil {
			continue
		}
		lines := lineRange{}
		lines.first, _ = strconv.Atoi(part[2])
		if lines.last = lines.first; part[3] != "" {
			lines.last, _ = strconv.Atoi(part[3])
		}
		if f, found, err = named(root, dir, part[1], lines); found || err != nil {
			return f, found, err
		}
	}
	return f, false, nil
}

// named returns a part of the file with a path; the zero lineRange is all of it.
func named(root *os.Root, dir, name string, lines lineRange) (f coordinator.File, found bool, err error) {
	relative := path.Clean(filepath.ToSlash(name))
	if filepath.IsAbs(name) {
		below, err := filepath.Rel(dir, name)
		if err != nil || !filepath.IsLocal(below) {
			return f, false, outside(name, name)
		}
		relative = filepath.ToSlash(below)
	}
	if !filepath.IsLocal(filepath.FromSlash(relative)) {
		return f, false, outside(name, filepath.Join(dir, filepath.FromSlash(name)))
	}
	info, err := root.Stat(filepath.FromSlash(relative))
	switch {
	case err == nil && info.IsDir():
		return f, false, nil // agents can list it
	case err == nil && !info.Mode().IsRegular():
		return f, false, &Error{"@" + name, (&regularfile.KindError{Mode: info.Mode()}).Error()}
	case err != nil && leadsOut(root, filepath.FromSlash(relative)):
		return f, false, &Error{"@" + name, reasonOutside}
	case err != nil:
		return f, false, nil
	}
	data, err := read(root, filepath.FromSlash(relative), lines)
	if err == nil {
		f, err = fileOf(relative, lines, data)
	}
	var reason *Error
	switch {
	case errors.As(err, &reason):
		return f, false, &Error{"@" + name, reason.Reason}
	case err != nil:
		return f, false, &Error{"@" + name, err.Error()}
	}
	return f, true, nil
}

// outside returns an error for a file outside of the directory; nil if there is none.
func outside(name, path string) error {
	if info, err := os.Stat(path); err != nil || info.IsDir() {
		return nil
	}
	return &Error{"@" + name, reasonOutside}
}

// leadsOut reports whether a name that cannot be followed below the root is a link.
func leadsOut(root *os.Root, name string) bool {
	info, err := root.Lstat(name)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// read returns the content of a regular file, or some of its lines.
func read(root *os.Root, name string, lines lineRange) ([]byte, error) {
	f, err := root.OpenFile(name, openFlag, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &regularfile.KindError{Mode: info.Mode()}
	}
	if err != nil {
		return nil, err
	}
	if lines == (lineRange{}) {
		data, err := io.ReadAll(io.LimitReader(f, attachment.MaxBytes+1))
		if err == nil && len(data) > attachment.MaxBytes {
			err = &attachment.TooLargeError{Bytes: max(info.Size(), int64(len(data)))}
		}
		return data, err
	}
	return readLines(f, lines)
}

// readLines returns lines of a file, from 1.
func readLines(f io.Reader, lines lineRange) (data []byte, err error) {
	r := bufio.NewReaderSize(io.LimitReader(f, maxScanned), 64<<10)
	for n := 1; n <= lines.last && lines.first > 0; {
		piece, err := r.ReadSlice('\n')
		if n >= lines.first {
			data = append(data, piece...)
		}
		switch {
		case len(data) > attachment.MaxBytes:
			return nil, &attachment.TooLargeError{Bytes: int64(len(data))}
		case err == bufio.ErrBufferFull: // the line continues
		case err == io.EOF && len(data) == 0:
			return nil, &Error{Reason: reasonNoLines}
		case err == io.EOF:
			return data, nil
		case err != nil:
			return nil, err
		default:
			n++
		}
	}
	if len(data) == 0 {
		return nil, &Error{Reason: reasonNoLines}
	}
	return data, nil
}

// fileOf returns the file of a message with a content. Its error is an *Error.
func fileOf(name string, lines lineRange, data []byte) (coordinator.File, error) {
	kind := imageType(data)
	isText := utf8.Valid(data) && !bytes.ContainsRune(data, 0)
	switch {
	case kind != "" && lines == (lineRange{}):
	case isText:
		kind = "text/plain"
	default:
		return coordinator.File{}, &Error{Reason: reasonBinary}
	}
	if lines != (lineRange{}) {
		name += fmt.Sprintf(":%d-%d", lines.first, lines.last)
	}
	return coordinator.File{Name: name, MediaType: kind, Data: data}, nil
}

// maxPixels is the width and the height of the largest picture that all APIs take.
const maxPixels = 8000

// imageType returns the media type of a picture that agents can take; "": it is none. An API that cannot read a picture
// refuses the message, and all later ones of the agent's session.
func imageType(data []byte) string {
	kind := http.DetectContentType(data)
	if !(projection.File{MediaType: kind}).IsImage() {
		return ""
	}
	c, _, err := image.DecodeConfig(bytes.NewReader(data))
	if kind != "image/webp" && (err != nil || max(c.Width, c.Height) > maxPixels) {
		return ""
	}
	return kind
}
