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

// Members are those whose names a conversation shows, in the order of the team.
type Members []Member

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

// AddMembers adds those members of a team that are missing.
func (all *Members) AddMembers(members []projection.Member) {
	for _, m := range members {
		if !slices.ContainsFunc(*all, func(known Member) bool { return known.ID == m.ID }) {
			*all = append(*all, Member{Speaker: projection.Speaker{
				ID: m.ID, Name: m.Name, DisplayName: m.DisplayName, Type: m.Type,
			}})
		}
	}
}

// Speakers returns the members without their colours.
func (all Members) Speakers() (speakers []projection.Speaker) {
	for _, m := range all {
		speakers = append(speakers, m.Speaker)
	}
	return speakers
}

// Name returns the displayed name of a member.
func (all Members) Name(id string) string { return all.member(projection.Speaker{ID: id}).DisplayName }

// Color returns the colour of a member's name.
func (all Members) Color(id string) ansi.Color { return all.member(projection.Speaker{ID: id}).Color }

// member returns a speaker with its colour, and with the names of the member if s has none. A speaker that is not in
// the team has a colour that follows from its id.
func (all Members) member(s projection.Speaker) Member {
	i := slices.IndexFunc(all, func(m Member) bool { return m.ID == s.ID })
	m := Member{Speaker: s}
	if i >= 0 {
		m.Color = all[i].Color
		if s.DisplayName == "" {
			m.Speaker = all[i].Speaker
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

// speaking returns the member whose turn it is, with the names of the team if it is in it.
func (all Members) speaking(s projection.Speaker) Member {
	if slices.ContainsFunc(all, func(m Member) bool { return m.ID == s.ID }) {
		return all.member(projection.Speaker{ID: s.ID})
	}
	return all.member(s)
}
