package page

import (
	"cmp"
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
)

// A head is what the template of the head shows. Its texts are safe.
type head struct {
	Title, Task string
	Speakers    []speaker
	Facts       []fact
	LeftOut     []string
	Chart       template.HTML
}

// A speaker is a member or a person.
type speaker struct {
	Name, Color string
	Messages    string // their number; "": none
}

// A fact is a line of the head.
type fact struct{ Name, Value string }

func (d *Document) head() (head, error) {
	members := NewMembers(d.Session.Team.Members)
	h := head{
		Title:    cmp.Or(tty.SafeLine(d.Session.Row.Title), "(no title)"),
		Speakers: d.speakers(members.ColorClass), Facts: d.facts(),
	}
	if d.Chart != nil {
		var picture strings.Builder
		if err := d.Chart.HTML(&picture, members.ColorClass, func(text string) string { return text }); err != nil {
			return h, err
		}
		h.Chart = template.HTML(picture.String())
	}
	if d.Session.Task != nil {
		h.Task = tty.Safe(*d.Session.Task)
	}
	for _, text := range d.leftOut() {
		h.LeftOut = append(h.LeftOut, tty.SafeLine(text))
	}
	return h, nil
}

// speakers returns the members of the team, and then those who spoke besides. class returns the class of a colour.
func (d *Document) speakers(class func(id string) string) []speaker {
	var shown []speaker
	add := func(id, name string) {
		s := speaker{Name: tty.SafeLine(cmp.Or(name, id)), Color: class(id)}
		if n := d.Stats.ByMember[id]; n > 0 {
			s.Messages = app.Count(n, "message")
		}
		shown = append(shown, s)
	}
	known := map[string]bool{}
	for _, m := range d.Session.Team.Members {
		known[m.ID] = true
		add(m.ID, m.DisplayName)
	}
	for _, s := range d.Session.Speakers {
		if !known[s.ID] && d.Stats.ByMember[s.ID] > 0 {
			add(s.ID, s.DisplayName)
		}
	}
	return shown
}

func (d *Document) facts() []fact {
	facts := []fact{{"Session", d.ID}}
	add := func(name, value string) {
		if value != "" {
			facts = append(facts, fact{name, tty.SafeLine(value)})
		}
	}
	row := d.Session.Row
	add("Team", d.Session.Team.Name)
	add("Started", timeText(row.CreatedAt))
	add("Last active", timeText(row.UpdatedAt))
	add("Messages", fmt.Sprint(d.Stats.Messages))
	if d.Stats.Turns > 0 {
		add("Turns", fmt.Sprint(d.Stats.Turns))
	}
	if d.Stats.Tools > 0 {
		add("Tool calls", fmt.Sprint(d.Stats.Tools))
	}
	add("Tokens", d.tokens())
	add("Cost", d.cost())
	return facts
}

func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04:05 -07:00")
}

func (d *Document) tokens() string {
	var texts []string
	u := d.Stats.Usage
	if in := u.Input + u.CachedRead + u.CachedWrite; in > 0 {
		texts = append(texts, view.CountText(in)+" in")
	}
	if out := u.Output + u.Thought; out > 0 {
		texts = append(texts, view.CountText(out)+" out")
	}
	return strings.Join(texts, ", ")
}

func (d *Document) cost() string {
	var texts []string
	for _, currency := range slices.Sorted(maps.Keys(d.Stats.Usage.Costs)) {
		texts = append(texts, view.Amount(d.Stats.Usage.Costs[currency])+" "+currency)
	}
	return strings.Join(texts, ", ")
}
