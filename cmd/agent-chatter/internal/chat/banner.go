package chat

import (
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
)

// bannerText starts a new conversation.
func bannerText(t *team.Team) string { return teamText(t) + view.MemberNames(t) + textHelp }

func teamText(t *team.Team) string { return "Team " + tty.SafeLine(t.DisplayName) + ": " }

const textHelp = ". Type /help to list the commands."

// bannerLines shows bannerText with the names in their colours.
func bannerLines(t *team.Team, s view.Style) (lines []string) {
	dim, colors := ansi.Style{Dim: true}, view.NewTranscript(t)
	line := ansi.Line{{Text: teamText(t), Style: dim}}
	for i, m := range t.Members {
		if i > 0 {
			line = append(line, ansi.Span{Text: ", ", Style: dim})
		}
		line = append(line, ansi.Span{Text: tty.SafeLine(m.Name), Style: ansi.Style{Color: colors.Color(m.ID)}})
	}
	for _, l := range ansi.Wrap(append(line, ansi.Span{Text: textHelp, Style: dim}), s.Width-1) {
		lines = append(lines, s.Profile.Encode(l))
	}
	return lines
}
