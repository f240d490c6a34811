package attach

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/journal/attachment"
	"github.com/agent-chatter/agent-chatter/journal/regularfile"
	"github.com/agent-chatter/agent-chatter/projection"
)

const (
	maxPasted = 4 << 10 // bytes of a paste that may be a path
	maxKept   = 20      // pictures that wait for their message
)

// Pasted are pictures that were pasted into a message that is not sent yet. The zero Pasted has none. Its methods may
// be called concurrently.
type Pasted struct {
	mu    sync.Mutex
	files []pastedFile // the oldest first
}

type pastedFile struct {
	label string // as the input shows it
	file  coordinator.File
}

// Path returns how the input shows the picture whose path was pasted; ok is false if the text is no path of a picture.
func (p *Pasted) Path(text string) (label string, ok bool) {
	name, ok := pathOf(text)
	if !ok {
		return "", false
	}
	data, err := regularfile.Read(name, attachment.MaxBytes)
	if err != nil {
		return "", false
	}
	return p.Add(filepath.Base(name), data)
}

// Add returns how a message shows a picture with a name; ok is false if the data are no picture that agents can take.
func (p *Pasted) Add(name string, data []byte) (label string, ok bool) {
	kind := imageType(data)
	if kind == "" || len(data) > attachment.MaxBytes {
		return "", false
	}
	if name == "" {
		name = "picture" + extensions[kind]
	}
	return p.add(name, data), true
}

// pathOf returns the absolute path that a text is: as it is, in quotes, with backslashes, or as a file URL, as
// terminals paste files that are dropped on them.
func pathOf(text string) (name string, ok bool) {
	text = strings.TrimSpace(text)
	if text == "" || len(text) > maxPasted || strings.ContainsAny(text, "\r\n\x00") {
		return "", false
	}
	if u, err := url.Parse(text); err == nil && u.Scheme == "file" && (u.Host == "" || u.Host == "localhost") {
		text = filepath.FromSlash(u.Path)
	}
	if n := len(text); n > 1 && strings.ContainsRune(`'"`, rune(text[0])) && text[n-1] == text[0] {
		text = text[1 : n-1]
	} else if runtime.GOOS != "windows" {
		text = strings.ReplaceAll(text, `\ `, " ")
	}
	return text, filepath.IsAbs(text)
}

// add keeps a picture and returns its label, which no other one has.
func (p *Pasted) add(name string, data []byte) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	name = strings.ReplaceAll(projection.FileName(name), ":", "_") // a marker has a colon
	ext := filepath.Ext(name)
	label := "[" + name + "]"
	for n := 2; p.find(label) >= 0; n++ {
		label = fmt.Sprintf("[%s-%d%s]", strings.TrimSuffix(name, ext), n, ext)
	}
	if len(p.files) == maxKept {
		p.files = p.files[1:]
	}
	f := coordinator.File{Name: strings.Trim(label, "[]"), MediaType: imageType(data), Data: data}
	p.files = append(p.files, pastedFile{label, f})
	return label
}

func (p *Pasted) find(label string) int {
	for i, f := range p.files {
		if f.label == label {
			return i
		}
	}
	return -1
}

// Files returns the pictures whose labels a message has.
func (p *Pasted) Files(text string) (files []coordinator.File) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range p.files {
		if strings.Contains(text, f.label) {
			files = append(files, f.file)
		}
	}
	return files
}

// Without returns a text without the labels of the pictures.
func (p *Pasted) Without(text string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range p.files {
		text = strings.ReplaceAll(text, f.label, "")
	}
	return strings.TrimSpace(text)
}

// Forget forgets the pictures whose labels a message has, which was sent.
func (p *Pasted) Forget(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.files = slices.DeleteFunc(p.files, func(f pastedFile) bool { return strings.Contains(text, f.label) })
}

// clipboardTime is how long the clipboard's program may take.
const clipboardTime = 3 * time.Second

// ErrNoPicture is returned by Clipboard if the clipboard has no picture, or no program can read it.
var ErrNoPicture = errors.New("the clipboard has no picture, or there is no program that reads it: " +
	"wl-paste, xclip, pngpaste or powershell")

// Clipboard returns how the input shows the picture of the system's clipboard. It blocks until the program that reads
// it has ended, a few seconds at most.
func (p *Pasted) Clipboard(ctx context.Context) (label string, err error) {
	ctx, cancel := context.WithTimeout(ctx, clipboardTime)
	defer cancel()
	for _, command := range clipboardCommands(runtime.GOOS) {
		out := limitedBuffer{limit: attachment.MaxBytes}
		program := exec.CommandContext(ctx, command[0], command[1:]...)
		program.Stdout, program.WaitDelay = &out, time.Second
		err := program.Run()
		switch {
		case out.full:
			return "", &attachment.TooLargeError{Bytes: attachment.MaxBytes + 1}
		case err == nil:
			if label, ok := p.Add("", out.Bytes()); ok {
				return label, nil
			}
		}
	}
	return "", ErrNoPicture
}

var extensions = map[string]string{
	"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp",
}

// clipboardCommands returns the commands that may print the picture of the clipboard.
func clipboardCommands(system string) [][]string {
	switch system {
	case "darwin":
		script := `ObjC.import("AppKit");var d=$.NSPasteboard.generalPasteboard.dataForType("public.png");` +
			`d.isNil()?"":$.NSFileHandle.fileHandleWithStandardOutput.writeData(d);""`
		return [][]string{{"pngpaste", "-"}, {"osascript", "-l", "JavaScript", "-e", script}}
	case "windows":
		script := "Add-Type -AssemblyName System.Windows.Forms,System.Drawing;" +
			"$i=[Windows.Forms.Clipboard]::GetImage();if($i){$m=New-Object IO.MemoryStream;" +
			"$i.Save($m,[Drawing.Imaging.ImageFormat]::Png);$o=[Console]::OpenStandardOutput();" +
			"$o.Write($m.ToArray(),0,$m.Length)}"
		return [][]string{{"powershell", "-NoProfile", "-STA", "-Command", script}}
	}
	xclip := []string{"xclip", "-selection", "clipboard", "-t", "image/png", "-o"}
	if os.Getenv("WAYLAND_DISPLAY") == "" {
		return [][]string{xclip}
	}
	return [][]string{{"wl-paste", "--no-newline", "--type", "image/png"}, xclip}
}
