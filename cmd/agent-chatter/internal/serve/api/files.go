package api

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/filechanges"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/page"
	"github.com/agent-chatter/agent-chatter/coordinator/redact"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// A filesJSON is what turns of a session changed in files.
type filesJSON struct {
	Steps   []fileStepJSON `json:"steps"`
	Skipped []string       `json:"skipped,omitempty"` // what the last captures lack
	Notice  string         `json:"notice,omitempty"`  // why there are no steps
}

// A fileStepJSON is what differs between two captures of a directory.
type fileStepJSON struct {
	Seq    uint64     `json:"seq"`
	Turn   int        `json:"turn,omitempty"`
	Who    string     `json:"who"`
	ByTurn bool       `json:"byTurn,omitempty"`
	Dir    string     `json:"dir"`
	Files  []fileJSON `json:"files"`
	More   int        `json:"more,omitempty"`   // files that are not listed
	Notice string     `json:"notice,omitempty"` // why the files are not known
}

// maxListed is how many files of a step the page lists.
const maxListed = 500

type fileJSON struct {
	Path  string `json:"path"` // as it is shown
	Kind  string `json:"kind"`
	Plus  *int   `json:"plus,omitempty"`
	Minus *int   `json:"minus,omitempty"`
}

// A fileDiffJSON is what differs in a file.
type fileDiffJSON struct {
	HTML    string   `json:"html"`
	Notes   []string `json:"notes,omitempty"`
	Restore string   `json:"restore,omitempty"` // how to set the file back
}

// fileReaders keep the reader of the session that was requested last.
type fileReaders struct {
	mu     sync.Mutex // is held while a session is read
	key    catalog.Key
	last   uint64 // the last event that was read
	reader *filechanges.Reader
}

// fileReader returns the reader of a session as it is now.
func (d *Server) fileReader(r *http.Request) (*filechanges.Reader, error) {
	key, err := d.key(r)
	if err != nil {
		return nil, err
	}
	s, err := d.app.Catalog.At(key.Dir).Session(r.Context(), key.ID)
	if err != nil {
		return nil, err
	}
	kept := &d.readers
	kept.mu.Lock()
	defer kept.mu.Unlock()
	if kept.reader == nil || kept.key != key || kept.last != s.LastSeq {
		reader, err := filechanges.OpenReader(r.Context(), d.app, s)
		if err != nil {
			return nil, err
		}
		kept.key, kept.last, kept.reader = key, s.LastSeq, reader
	}
	return kept.reader, nil
}

// secrets returns what replaces the secrets of the session that a request names.
func (d *Server) secrets(r *http.Request) *redact.Redactor {
	key, err := d.key(r)
	if err != nil {
		return d.redactor(nil)
	}
	return d.redactor(app.TeamSource(d.app.Catalog.At(key.Dir), key.ID))
}

// files lists what turns of a session changed.
func (d *Server) files(r *http.Request) (filesJSON, error) {
	answer := filesJSON{Steps: []fileStepJSON{}}
	reader, err := d.fileReader(r)
	var refused *app.ExitError
	if errors.As(err, &refused) { // nothing was recorded here
		answer.Notice = d.text(err)
		return answer, nil
	}
	if err != nil {
		return answer, err
	}
	secrets := d.secrets(r)
	safe := func(text string) string { return tty.SafeLine(secrets.Text(text)) }
	for _, s := range reader.Steps {
		step := fileStepJSON{
			Seq: s.Seq, Turn: s.Turn, Who: safe(s.Who), ByTurn: s.ByTurn, Dir: safe(s.Dir), Files: []fileJSON{},
			Notice: secrets.Text(s.Problem),
		}
		step.More = max(len(s.Files)-maxListed, 0)
		for _, c := range s.Files[:len(s.Files)-step.More] {
			step.Files = append(step.Files, fileJSON{safe(string(c.Path)), string(c.Kind), c.Plus, c.Minus})
		}
		answer.Steps = append(answer.Steps, step)
	}
	for _, text := range reader.Skipped() {
		answer.Skipped = append(answer.Skipped, safe(text))
	}
	return answer, nil
}

// fileDiff returns what differs in the file with a number of a step.
func (d *Server) fileDiff(r *http.Request) (fileDiffJSON, error) {
	seq, err := strconv.ParseUint(r.FormValue("seq"), 10, 63)
	file, fileErr := strconv.Atoi(r.FormValue("file"))
	if err != nil || fileErr != nil {
		return fileDiffJSON{}, &requestError{"seq takes the number of an event, file that of a file."}
	}
	reader, err := d.fileReader(r)
	if err != nil {
		return fileDiffJSON{}, err
	}
	step, ok := reader.Index(seq)
	if !ok || file < 0 || file >= len(reader.Steps[step].Files) {
		return fileDiffJSON{}, app.Exit(app.ExitNotFound, app.Text("The session has no such change of a file."))
	}
	s := reader.Steps[step]
	path := string(s.Files[file].Path)
	secrets := d.secrets(r)
	diff, err := reader.Diff(step, path, secrets.Text)
	if err != nil { // such as contents that are gone
		return fileDiffJSON{Notes: []string{secrets.Text(d.text(err))}}, nil
	}
	answer := fileDiffJSON{}
	for _, note := range diff.Notes {
		answer.Notes = append(answer.Notes, secrets.Text(note))
	}
	beside := r.FormValue("beside") != "" && diff.Parts
	answer.HTML = page.Hunks(diff.Hunks, beside)
	if s.ByTurn {
		dir := ""
		if len(reader.Dirs()) > 1 {
			dir = s.Dir
		}
		text := d.app.Render(restoreText(reader.Session().ID, dir, s.At-1, s.Turn, path))
		answer.Restore = strings.TrimSpace(secrets.Text(text))
	}
	return answer, nil
}

// restoreText says how to set a file back to before a turn. dir is "" if the session has files of one directory.
func restoreText(id, dir string, before uint64, turn int, path string) app.Message {
	purpose := "set the file back to before that turn"
	if turn > 0 {
		purpose = "set the file back to before turn " + strconv.Itoa(turn)
	}
	argv := []string{"files", "restore", id, "--at", strconv.FormatUint(before, 10)}
	if dir != "" {
		argv = append(argv, "--dir", dir)
	}
	if strings.HasPrefix(path, "-") {
		argv = append(argv, "--")
	}
	return app.Message{Help: []app.Help{
		app.To(purpose, append(argv, path)...), app.To("review it, hunk by hunk", "files", "review", id),
	}}
}
