package coordinator

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal/attachment"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/runecut"
)

// A File is attached to a message.
type File struct {
	Name      string // as projection.File.Name; "": it has none
	MediaType string
	Data      []byte // at most attachment.MaxBytes
}

// MaxFiles is how many files a message has at most.
const MaxFiles = 20

// maxHeldFiles is how much files of messages take in memory while the session cannot be saved, in bytes.
const maxHeldFiles = 2 * attachment.MaxBytes

// A FileError is the error of Say for a file that a message cannot have.
type FileError struct {
	Name string
	Err  error // such as an *attachment.TooLargeError
}

func (e *FileError) Error() string { return fmt.Sprintf("%s cannot be attached: %v", e.Name, e.Err) }

func (e *FileError) Unwrap() error { return e.Err }

// recordableFile returns a file as it is recorded: without secrets in its name, and in its text.
func (c *Coordinator) recordableFile(f File) File {
	f.Name = cmp.Or(c.bounded(strings.TrimSpace(f.Name), maxLabel), "file")
	f.MediaType = c.bounded(f.MediaType, maxLabel)
	if isText(f) && utf8.Valid(f.Data) {
		f.Data = []byte(c.secrets.Text(string(f.Data)))
	}
	return f
}

func isText(f File) bool { return projection.File{MediaType: f.MediaType}.IsText() }

// checkFiles returns the files of a message as they are recorded, or a *FileError.
func (c *Coordinator) checkFiles(files []File) ([]File, error) {
	var all []File
	for i, f := range files {
		isElsewhere := c.conv != nil && c.conv.state.CWD != c.o.CWD
		if isText(f) && isElsewhere && !filepath.IsAbs(f.Name) {
			f.Name = filepath.Join(c.o.CWD, f.Name)
		}
		f = c.recordableFile(f)
		switch {
		case i >= MaxFiles:
			return nil, &FileError{f.Name, fmt.Errorf("a message has at most %d files", MaxFiles)}
		case len(f.Data) > attachment.MaxBytes:
			return nil, &FileError{f.Name, &attachment.TooLargeError{Bytes: int64(len(f.Data))}}
		}
		all = append(all, f)
	}
	return all, nil
}

// attach keeps the files of a message, before the message is recorded. Its error is a *FileError.
func (c *Coordinator) attach(files []File) (attached []projection.File, err error) {
	for _, f := range files {
		sum, err := c.conv.attach(f.Data)
		if err != nil {
			return nil, &FileError{f.Name, err}
		}
		attached = append(attached, projection.File{
			Name: f.Name, MediaType: f.MediaType, Bytes: int64(len(f.Data)), SHA256: sum,
		})
	}
	return attached, nil
}

// attach keeps the content of a file: in memory while the events of the session are kept there.
func (c *openSession) attach(data []byte) (sum string, err error) {
	if !c.manual && !c.unsaved() {
		return c.log.Attach(data)
	}
	if sum = attachment.Sum(data); c.files[sum] != nil {
		return sum, nil
	}
	if c.heldFiles += len(data); c.heldFiles > maxHeldFiles {
		c.heldFiles -= len(data)
		return "", &HeldError{Limit: maxHeldFiles, Saves: c.log.Held() == 0}
	}
	if c.files == nil {
		c.files = map[string][]byte{}
	}
	c.files[sum] = slices.Concat([]byte{}, data)
	return sum, nil
}

// attached returns the content of a file of a message.
func (c *openSession) attached(f projection.File) ([]byte, error) {
	if data, ok := c.files[f.SHA256]; ok {
		return data, nil
	}
	return c.log.Attached(f)
}

// writeFiles keeps the files on the disk that are only in memory.
func (c *openSession) writeFiles() error {
	for sum, data := range c.files {
		if _, err := c.log.Attach(data); err != nil {
			return err
		}
		delete(c.files, sum)
		c.heldFiles -= len(data)
	}
	return nil
}

// maxInlined is how much text of files the prompt of an agent without tools has, in bytes.
const maxInlined = 64 << 10

// An inlining has the texts of files that a prompt contains, by their SHA-256. Agents without tools cannot read them.
type inlining map[string]string

// inline returns the texts of the files of messages for a member that cannot read files: those of the newest messages
// first, as far as they fit. It returns nil for other members.
func (c *Coordinator) inline(m team.Member, h history, t trigger) inlining {
	if info, _ := agent.Lookup(m.EngineName()); !info.Endpoint {
		return nil
	}
	texts, left := inlining{}, maxInlined
	add := func(files []projection.File) {
		for _, f := range files {
			if _, known := texts[f.SHA256]; known || !f.IsText() {
				continue
			}
			data, err := c.conv.attached(f)
			if err != nil {
				texts[f.SHA256] = "(its content cannot be read)"
				continue
			}
			text := validUTF8(c.secrets.Text(string(data)))
			kept := runecut.Prefix(text, left)
			left -= len(kept)
			if dropped := len(text) - len(kept); dropped > 0 {
				kept += fmt.Sprintf("\n[%d bytes of this file are left out here]", dropped)
			}
			texts[f.SHA256] = kept
		}
	}
	add(t.files)
	if h.repliedTo != nil {
		add(h.repliedTo.Attachments)
	}
	for _, e := range slices.Backward(h.entries) {
		add(e.Attachments)
	}
	return texts
}

// withFiles returns the text of a message followed by its files: their labels, each in a line, with their texts, or
// where they are.
func (c *Coordinator) withFiles(text string, files []projection.File, texts inlining) string {
	if len(files) == 0 {
		return text
	}
	lines := []string{strings.TrimRight(text, " \t\r\n")}
	for _, f := range files {
		line := "Attached: " + f.Label()
		inlined, ok := texts[f.SHA256]
		switch {
		case ok:
			line += "\n" + indent + indentRest(strings.TrimRight(inlined, "\r\n"))
		case f.IsText():
			line += ", the file " + c.name(c.absolute(f.Name))
		}
		lines = append(lines, line)
	}
	return strings.TrimLeft(strings.Join(lines, "\n"), "\n")
}

// absolute returns the path of a file in the directory of the session.
func (c *Coordinator) absolute(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(c.conv.state.CWD, name)
}

// The limits of the pictures that a prompt brings.
const (
	maxImages     = 10
	maxImageBytes = attachment.MaxBytes
)

// images returns the pictures of messages for the agent of a turn, the oldest first: the newest ones that fit. It
// notifies the listener of those of the triggering message that the agent does not get.
func (t *turn) images(entries []projection.Entry) (images []agent.Image) {
	c, m := t.c, t.item.member
	info, _ := agent.Lookup(m.EngineName())
	bytes := 0
	for _, e := range slices.Backward(entries) {
		for _, f := range slices.Backward(e.Attachments) {
			if !f.IsImage() {
				continue
			}
			reason := NotSent("")
			full := len(images) == maxImages || bytes+int(f.Bytes) > maxImageBytes
			switch {
			case info.MaxImage == 0:
				reason = NotTaken
			case f.Bytes > info.MaxImage || full:
				reason = NotFitting
			default:
				data, err := c.conv.attached(f)
				if err != nil {
					reason = NotReadable
					break
				}
				bytes += len(data)
				images = append(images, agent.Image{Label: f.Label(), MediaType: f.MediaType, Data: data})
			}
			if reason != "" && e.ID == t.item.trigger.id {
				c.notifyNotSent(m, f, reason)
			}
		}
	}
	slices.Reverse(images)
	return images
}

// notifyNotSent reports once that a member does not get a file.
func (c *Coordinator) notifyNotSent(m team.Member, f projection.File, reason NotSent) {
	n := FileNotSent{m.ID, f.Name, reason}
	if !slices.Contains(c.notSent, n) {
		c.notSent = append(c.notSent, n)
		c.notify(n)
	}
}

// notTaken reports that the agent of the turn does not take the pictures of the triggering message.
func (t *turn) notTaken() {
	for _, f := range t.item.trigger.files {
		if f.IsImage() {
			t.c.notifyNotSent(t.item.member, f, NotTaken)
		}
	}
}

// trigger returns the triggering message of the turn as an entry.
func (t *turn) trigger() projection.Entry {
	trigger := t.item.trigger
	return projection.Entry{Message: projection.Message{ID: trigger.id}, Attachments: trigger.files}
}
