package review

import (
	"context"
	"errors"
	"strings"
	"sync"

	tea "charm.land/bubbletea/v2"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/filechanges"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
)

// A dialog shows what a restore would do, does, or did.
type dialog struct {
	title, text string
	top         int
	asks        bool // y runs the restore
	busy        bool // keys are ignored
	changed     bool // the session has new events
}

// A restore is at most one prepared restore. Its methods may be called concurrently.
type restore struct {
	mu       sync.Mutex
	closed   bool
	running  sync.WaitGroup
	prepared *filechanges.Preview
}

// begin reports whether a command may run, which calls running.Done then.
func (r *restore) begin() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.running.Add(1)
	}
	return !r.closed
}

// set replaces the prepared restore, which is closed. nil: there is none then.
func (r *restore) set(prepared *filechanges.Preview) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.prepared
	if r.prepared = prepared; before == nil {
		return nil
	}
	return before.Close()
}

// close waits for the commands that run.
func (r *restore) close() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.running.Wait()
	_ = r.set(nil) // the lock of a process that ends is released in any case
}

// preparedMsg says what a restore would do.
type preparedMsg struct {
	ctx  context.Context
	text string
	runs bool
	err  error
}

// doneMsg says what a restore did.
type doneMsg struct {
	ctx  context.Context
	text string
	err  error
}

// prepareFiles asks whether to set back the selected file, or all of the selected turn.
func (p *Pane) prepareFiles() tea.Cmd {
	of, ok := p.list.at(p.list.selected)
	if !ok || of.step < 0 || p.reader == nil {
		return nil
	}
	s := p.reader.Steps[of.step]
	target := filechanges.Target{Step: of.step}
	for i, c := range s.Files {
		if !of.isFile() || i == of.file {
			target.Paths = append(target.Paths, string(c.Path))
		}
	}
	if len(target.Paths) == 0 {
		return nil // they are not known
	}
	return p.prepare(target, restoreTitle(s, target))
}

// prepareHunk asks whether to set back the current hunk.
func (p *Pane) prepareHunk() tea.Cmd {
	of, ok := p.list.at(p.list.selected)
	if !ok || !of.isFile() || p.diff.content == nil || len(p.diff.starts) == 0 {
		return nil
	}
	s := p.reader.Steps[of.step]
	target := filechanges.Target{Step: of.step, Paths: []string{string(s.Files[of.file].Path)}}
	if p.diff.content.Parts {
		target.Part = p.diff.hunk + 1
	}
	return p.prepare(target, restoreTitle(s, target))
}

// prepareUndo asks whether to undo the last restore.
func (p *Pane) prepareUndo() tea.Cmd {
	of, ok := p.list.at(p.list.selected)
	if !ok || p.reader == nil {
		return nil
	}
	return p.prepare(filechanges.Target{Step: max(of.step, 0), Undo: true}, textUndoTitle)
}

// prepare prepares a restore.
func (p *Pane) prepare(t filechanges.Target, title string) tea.Cmd {
	p.dialog = &dialog{title: title, text: textComparing, busy: true}
	ctx, r, reader, record := p.ctx, p.restore, p.reader, p.record
	return func() tea.Msg {
		if !r.begin() {
			return nil
		}
		defer r.running.Done()
		prepared, err := reader.Preview(ctx, t, record)
		if err != nil {
			return preparedMsg{ctx: ctx, err: err}
		}
		msg := preparedMsg{ctx: ctx, text: prepared.Text(), runs: prepared.Changes()}
		msg.err = r.set(prepared)
		return msg
	}
}

// takePrepared shows what a restore would do.
func (p *Pane) takePrepared(msg preparedMsg) {
	p.dialog.busy, p.dialog.text, p.dialog.asks = false, msg.text, msg.runs
	if msg.err != nil {
		p.dialog.text, p.dialog.asks = p.explained(msg.err), false
	}
	if !p.dialog.asks {
		_ = p.restore.set(nil) // it has written nothing
	}
}

// explained says what an error means.
func (p *Pane) explained(err error) string {
	if errors.Is(err, context.Canceled) {
		return textCancelled
	}
	return p.app.Render(app.Explain(err))
}

// pressDialog handles a key while a dialog is shown.
func (p *Pane) pressDialog(key string) tea.Cmd {
	d := p.dialog
	switch {
	case d.busy:
		return nil
	case key == "up" || key == "k":
		d.top--
		return nil
	case key == "down" || key == "j":
		d.top++
		return nil
	case d.asks && (key == "y" || key == "Y"):
		d.busy, d.asks, d.text = true, false, textRestoring
		return p.run()
	}
	_ = p.restore.set(nil) // it has written nothing, or has ended
	if p.dialog = nil; d.changed {
		return p.Show(p.session)
	}
	return nil
}

// run sets the files back.
func (p *Pane) run() tea.Cmd {
	ctx, r := p.ctx, p.restore
	return func() tea.Msg {
		if !r.begin() {
			return nil
		}
		defer r.running.Done()
		text, err := r.prepared.Restore(ctx)
		return doneMsg{ctx, text, errors.Join(err, r.set(nil))}
	}
}

// takeDone shows what a restore did.
func (p *Pane) takeDone(msg doneMsg) tea.Cmd {
	p.dialog.busy, p.dialog.text, p.dialog.changed = false, msg.text, true
	if msg.text != "" {
		p.dialog.text += "\n" + textUndoHow
	}
	if msg.err != nil { // some files may be set back
		p.dialog.text = strings.TrimSpace(p.explained(msg.err) + "\n" + p.dialog.text)
	}
	return nil
}

// lines returns the rows of the dialog.
func (d *dialog) lines(columns, rows int) []ansi.Line {
	lines := []ansi.Line{nil, {{Text: " " + d.title, Style: ansi.Style{Bold: true}}}, nil}
	text := wrapped(d.text, max(columns-2, 1), ansi.Style{})
	height := max(rows-len(lines), 1)
	d.top = max(min(d.top, len(text)-height), 0)
	hidden := len(text) - d.top - height
	for i, line := range text[d.top:min(d.top+height, len(text))] {
		if hidden > 0 && i == height-1 {
			line = ansi.Line{dimmed(moreText(hidden + 1))}
		}
		lines = append(lines, append(ansi.Line{{Text: " "}}, line...))
	}
	return lines
}
