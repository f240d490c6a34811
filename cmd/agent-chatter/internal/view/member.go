package view

import (
	"hash/fnv"
	"slices"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/projection"
)

// A Member is a speaker and the colour of its name. The default colour stands for one that follows from its place
// in the team.
type Member struct {
	projection.Speaker
	Color ansi.Color
}

// NewTranscript returns the Transcript of a team.
func NewTranscript(team *team.Team) *Transcript {
	t := &Transcript{}
	for _, m := range team.Members {
		t.Members = append(t.Members, Member{
			Speaker: projection.Speaker{ID: m.ID, Name: m.Name, DisplayName: m.DisplayName, Type: m.Type},
			Color:   ansi.ParseColor(m.ThemeColor),
		})
	}
	return t
}

// memberColors are the colours of the members of a team in their order. Red is left to errors, and black and white
// may be the background.
var memberColors = []ansi.Color{
	ansi.Cyan, ansi.Magenta, ansi.Green, ansi.Yellow, ansi.Blue,
	ansi.BrightCyan, ansi.BrightMagenta, ansi.BrightGreen, ansi.BrightYellow, ansi.BrightBlue,
}

// AddMembers adds those members of a team that it does not know.
func (t *Transcript) AddMembers(members []projection.Member) {
	for _, m := range members {
		if !slices.ContainsFunc(t.Members, func(known Member) bool { return known.ID == m.ID }) {
			t.Members = append(t.Members, Member{Speaker: projection.Speaker{
				ID: m.ID, Name: m.Name, DisplayName: m.DisplayName, Type: m.Type,
			}})
		}
	}
}

// Color returns the colour of a member's name.
func (t *Transcript) Color(id string) ansi.Color { return t.member(projection.Speaker{ID: id}).Color }

// member returns a speaker with its colour, and with its names if the event has none. A speaker that is not in the
// team has a colour that follows from its id.
func (t *Transcript) member(s projection.Speaker) Member {
	i := slices.IndexFunc(t.Members, func(m Member) bool { return m.ID == s.ID })
	m := Member{Speaker: s}
	if i >= 0 {
		m.Color = t.Members[i].Color
		if s.DisplayName == "" {
			m.Speaker = t.Members[i].Speaker
		}
	} else {
		h := fnv.New32a()
		h.Write([]byte(s.ID))
		i = int(h.Sum32() % uint32(len(memberColors)))
	}
	if m.DisplayName == "" {
		m.DisplayName = s.ID
	}
	if m.Color == ansi.Default {
		m.Color = memberColors[i%len(memberColors)]
	}
	return m
}
