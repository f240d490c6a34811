package view

import (
	"errors"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// Faults says what is to be known of a session that is shown up to its torn tail, or to an error. The zero Torn is no
// torn tail, or that of a session which is being written.
func Faults(s catalog.Session, torn journal.Torn, err error) []app.Message {
	var faults []app.Message
	add := func(m app.Message) { faults = append(faults, m) }
	var corrupt *journal.CorruptError
	switch {
	case errors.As(err, &corrupt):
		m := ReadFailure(s, err)
		m.Text += "\nNothing after it is shown."
		add(m)
	case err != nil:
		add(ReadFailure(s, err))
	case torn.Bytes > 0:
		add(app.Message{Text: TornText(s.ID, torn)})
	}
	if s.MissingHeader {
		add(app.Explain(s.HeaderError()))
	}
	if s.Newer != "" {
		add(app.Explain(&store.UpgradeError{SessionID: s.ID, Version: s.Newer}))
	}
	if s.Truncated {
		add(app.Message{Text: app.TruncatedText(s)})
	}
	if s.Invalid > 0 {
		add(app.InvalidEventsText(s.ID, s.Invalid, s.FirstInvalid))
	}
	return faults
}

// ReadFailure explains why a session cannot be read further.
func ReadFailure(s catalog.Session, err error) app.Message {
	var corrupt *journal.CorruptError
	switch {
	case errors.Is(err, journal.ErrNotFound):
		return app.FollowEndedText(s.ID, err)
	case !errors.As(err, &corrupt):
		return app.Explain(err)
	}
	help := app.DamageHelp(s, nil)
	if corrupt.TooLong > 0 {
		help = app.Message{Text: app.AllowText(corrupt.TooLong)}
	}
	text := "⚠️  " + app.Sentence(corrupt)
	if help.Text != "" {
		text += "\n" + help.Text
	}
	return app.Message{Text: text}.With(help.Help...)
}
