package review

import (
	"context"
	"errors"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// Run shows the files of a session on the terminal until the user closes it, and leaves the terminal as it was. Errors:
// ctx.Err(); those of the terminal.
func Run(ctx context.Context, a *app.App, s catalog.Session, record Record) error {
	m := &model{pane: New(a, record), session: s, columns: 80, rows: 24}
	defer m.pane.Close()
	p := tea.NewProgram(m, tea.WithContext(ctx), tea.WithoutSignalHandler(),
		tea.WithInput(a.Stdin), tea.WithOutput(a.Stdout.(*app.Output).File))
	_, err := p.Run()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(err, tea.ErrInterrupted) {
		err = context.Canceled
	}
	return err
}

// A model is a screen with a pane.
type model struct {
	pane          *Pane
	session       catalog.Session
	columns, rows int
}

// Init implements tea.Model.
func (m *model) Init() tea.Cmd {
	m.resize()
	return m.pane.Show(m.session)
}

func (m *model) resize() { m.pane.SetSize(m.columns, max(m.rows-2, 0)) }

// Update implements tea.Model.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.columns, m.rows = msg.Width, msg.Height
		m.resize()
		return m, nil
	case tea.KeyPressMsg:
		switch msg.String() {
		case "ctrl+c":
			return m, tea.Quit
		case "ctrl+z":
			return m, tea.Suspend
		}
	case CloseMsg:
		return m, tea.Quit
	}
	return m, m.pane.Update(msg)
}

// View implements tea.Model.
func (m *model) View() tea.View {
	v := tea.NewView(strings.Join(m.screen(), "\n"))
	v.AltScreen, v.MouseMode, v.WindowTitle = true, tea.MouseModeCellMotion, "agent-chatter"
	return v
}

// screen returns the rows of the screen.
func (m *model) screen() []string {
	title := ansi.Line{
		{Text: "Files", Style: ansi.Style{Bold: true}}, {Text: "  " + tty.SafeLine(m.session.Title) + "  "},
		dimmed(m.session.ID),
	}
	line := func(l ansi.Line) string { return m.pane.profile.Encode(ansi.Cut(l, m.columns)) }
	rows := append([]string{line(title)}, m.pane.Rows()...)
	return append(rows, line(m.pane.Footer()))
}
