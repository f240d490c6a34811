package transfer

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/interchange"
)

func SnapshotName(updated time.Time, id string) string {
	return fmt.Sprintf("%d-%s.json", updated.UnixMilli(), id)
}

// writeTo writes a file whole or not at all, in a directory that is there. What
// is no file, such as a pipe, is written to and stays what it is, and so is
// /dev/stdout, whatever that is.
func WriteTo(path string, write func(io.Writer) error) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && isStdout(info):
		return buffered(os.Stdout, write)
	case err == nil && !info.Mode().IsRegular():
		return writeThrough(path, write)
	case err == nil:
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return err
		}
	}
	return app.WriteAtomically(path, write)
}

func isStdout(info fs.FileInfo) bool {
	stdout, err := os.Stdout.Stat()
	return err == nil && os.SameFile(info, stdout)
}

// writeThrough writes to what cannot be replaced.
func writeThrough(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	err = buffered(f, write)
	if closeErr := f.Close(); err == nil && closeErr != nil {
		err = &app.OutputError{Err: closeErr}
	}
	return err
}

func buffered(f *os.File, write func(io.Writer) error) error {
	w := bufio.NewWriter(f)
	err := write(w)
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		return &app.OutputError{Err: err}
	}
	return nil
}

type Export struct {
	ID     []string `arg:"" optional:"" help:"The sessions; without any, the latest."`
	Format string   `help:"What is written: ${enum}." enum:"md,html,json,jsonl,snapshot,bundle,claude,codex,gemini" default:"snapshot"`
	To     string   `name:"output-file" short:"o" help:"A file, or a directory; - or nothing is standard output." placeholder:"PATH"`
	All    bool     `help:"All sessions."`
}

// Help shows examples first.
func (Export) Help() string {
	return `Examples:
  agent-chatter sessions export latest --format md
  agent-chatter sessions export --all --format html -o pages/
  agent-chatter sessions export --all --format bundle -o everything.bundle
  agent-chatter sessions export --all -o backup/

Secrets are replaced, also where the sessions have them.`
}

// Run implements the command.
func (cmd *Export) Run(a *app.App) error {
	names := cmd.ID
	if cmd.To == "-" {
		cmd.To = "" // standard output
	}
	switch {
	case cmd.All && len(names) > 0:
		return app.UsageError("Name sessions, or say --all.")
	case len(names) == 0 && !cmd.All:
		names = []string{catalog.LatestName}
	}
	sessions, err := a.Named(context.Background(), names, a.FindOrOpen)
	if err != nil {
		return err
	}
	e := NewExport(a, sessions...)
	defer e.SayReplaced()
	if cmd.Format == "bundle" {
		return cmd.bundle(e, sessions)
	}
	if len(sessions) > 1 && !app.IsDirectory(cmd.To) {
		return app.UsageError("%d sessions need a directory: -o DIR/", len(sessions))
	}
	if cmd.All {
		return cmd.all(e, sessions)
	}
	for i, s := range sessions {
		x, err := e.open(s)
		if err == nil {
			err = cmd.one(e, x)
		}
		if err != nil {
			return app.WithName(names[i], err)
		}
	}
	return nil
}

// all writes every session that can be read.
func (cmd *Export) all(e *export, sessions []catalog.Session) error {
	var left leftOut
	for _, s := range sessions {
		x, err := e.open(s)
		if err != nil {
			left.add(e.app, err)
			continue
		}
		if err := cmd.one(e, x); err != nil {
			return err
		}
	}
	return left.of(e.app, len(sessions))
}

// leftOut counts the sessions that cannot be read.
type leftOut struct{ sessions, code int }

func (l *leftOut) add(a *app.App, err error) {
	a.Show(app.Explain(err))
	l.sessions, l.code = l.sessions+1, max(l.code, app.CodeOf(err))
}

// of says how many of all they are; nil when all were read.
func (l *leftOut) of(a *app.App, sessions int) error {
	switch {
	case l.sessions > 0:
		return app.Exit(l.code, app.Message{Text: notExportedText(l.sessions, sessions)})
	case a.HasUnreadable():
		return app.Exit(app.ExitFailed, app.NotAllReadText())
	}
	return nil
}

// one writes a session to where it belongs.
func (cmd *Export) one(e *export, x *exported) error {
	path, err := PlaceFor(cmd.To, x.fileName(cmd.Format))
	if err != nil {
		return err
	}
	return e.write(path, func(w io.Writer) error { return formats[cmd.Format](x, w) })
}

// bundle writes all of them into one file.
func (cmd *Export) bundle(e *export, sessions []catalog.Session) error {
	sound, left, err := cmd.sound(e, sessions)
	if err != nil {
		return err
	}
	if len(sound) == 0 && left.sessions > 0 {
		return left.of(e.app, len(sessions))
	}
	name := "sessions.bundle"
	if len(sessions) == 1 {
		name = sessions[0].ID + ".bundle"
	}
	path, err := PlaceFor(cmd.To, name)
	if err != nil {
		return err
	}
	err = e.write(path, func(w io.Writer) error {
		b, err := interchange.NewBundle(w, e.app.Identity(), len(sound))
		if err != nil {
			return err
		}
		for _, x := range sound {
			if err := b.Add(x.events()); err != nil {
				return err
			}
		}
		return b.Close()
	})
	if err != nil || !cmd.All {
		return err
	}
	return left.of(e.app, len(sessions))
}

// sound are the sessions that can be read to their ends: how many there are
// stands at the beginning of a bundle. One that was named may not be left out.
func (cmd *Export) sound(e *export, sessions []catalog.Session) (sound []*exported, left leftOut, err error) {
	for _, s := range sessions {
		x, err := e.open(s)
		switch {
		case err != nil && !cmd.All:
			return nil, left, err
		case err != nil:
			left.add(e.app, err)
		default:
			x.state = &projection.State{Seq: x.state.Seq} // there may be thousands
			sound = append(sound, x)
		}
	}
	return sound, left, nil
}

// placeFor is the file that was named, or one of that name in the directory that
// was, which is made when there is none.
func PlaceFor(path, name string) (string, error) {
	if !app.IsDirectory(path) {
		return path, nil
	}
	return filepath.Join(path, name), os.MkdirAll(path, 0o755)
}

// notExportedText says how many sessions an export of all has left out.
func notExportedText(left, of int) string {
	if left == of {
		return fmt.Sprintf("Nothing was exported: none of %s can be read.", app.Count(of, "session"))
	}
	return fmt.Sprintf("Not exported, because it cannot be read: %d of %s. All others are.", left, app.Count(of, "session"))
}
