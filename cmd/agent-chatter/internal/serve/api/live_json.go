package api

import (
	"context"
	"html"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/host"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/live"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/page"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/web"
	"github.com/agent-chatter/agent-chatter/coordinator/redact"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// A liveJSON is what is new in a conversation beside its journal.
type liveJSON struct {
	State    *stateJSON    `json:"state,omitempty"`
	Text     []live.Reply  `json:"text,omitempty"`
	Notices  []noticeJSON  `json:"notices,omitempty"`
	Returned []live.Queued `json:"returned,omitempty"`
}

type noticeJSON struct {
	Text string `json:"text"`
}

// A stateJSON is what a conversation does now.
type stateJSON struct {
	Hosted    bool           `json:"hosted"` // false: no process answers
	Session   string         `json:"session,omitempty"`
	Role      web.Role       `json:"role"`
	Speaking  []speakingJSON `json:"speaking"`
	Next      []string       `json:"next"`
	Waiting   []string       `json:"waiting"`
	Queue     []live.Queued  `json:"queue"`
	Questions []questionJSON `json:"questions"`
	Sent      []string       `json:"sent"` // the ids of the inputs that were sent last
	Unsaved   bool           `json:"unsaved,omitempty"`
}

type speakingJSON struct {
	Turn   string    `json:"turn"`
	Member string    `json:"member"`
	Name   string    `json:"name"`
	Since  time.Time `json:"since"`
}

// A questionJSON is an open question.
type questionJSON struct {
	ID        string       `json:"id"`
	Turn      string       `json:"turn"`
	Member    string       `json:"member"`
	Name      string       `json:"name"`
	Title     string       `json:"title"`
	Lines     []string     `json:"lines"`
	HunksHTML string       `json:"hunksHTML"`
	Omitted   string       `json:"omitted,omitempty"`
	Choices   []string     `json:"choices"`
	Questions []optionJSON `json:"questions"`
}

// An optionJSON is one of the questions of a question that is no request for permission.
type optionJSON struct {
	Text     string         `json:"text"`
	Header   string         `json:"header,omitempty"`
	Options  []answerOption `json:"options"`
	Several  bool           `json:"several,omitempty"`
	Free     bool           `json:"free,omitempty"`
	Optional bool           `json:"optional,omitempty"`
	Secret   bool           `json:"secret,omitempty"`
}

type answerOption struct {
	Label string `json:"label"` // as the agent gave it
	Shown string `json:"shown"` // safe
	Help  string `json:"help,omitempty"`
}

// writerPause is the time between two looks whether another process hosts a conversation of an open page.
const writerPause = 2 * time.Second

// followLive sends what is new in a conversation beside its journal.
func (d *Server) followLive(ctx context.Context, key catalog.Key, name string, role web.Role, news *mailbox) {
	for was := true; d.hosts != nil; {
		c, changed := d.hosts.Conversation(ctx, key)
		if c == nil {
			if was {
				none := shownLive(live.Update{State: &live.State{}, Ended: true}, role, nil)
				news.hand(ctx, name, none)
			}
			was = false
			select {
			case <-changed:
			case <-time.After(writerPause):
			case <-ctx.Done():
				return
			}
			continue
		}
		was = true
		secrets := d.redactor(app.TeamSource(d.app.Catalog.At(key.Dir), key.ID))
		for u := range c.Watch(ctx) {
			if !news.hand(ctx, name, shownLive(u, role, secrets)) {
				return
			}
		}
		if ctx.Err() != nil {
			return
		}
	}
}

// shownLive describes an update for the page.
func shownLive(u live.Update, role web.Role, secrets *redact.Redactor) liveJSON {
	l := liveJSON{Text: u.Replies, Returned: shownQueue(u.Returned, secrets)}
	for _, text := range u.Notices {
		l.Notices = append(l.Notices, noticeJSON{secrets.Text(tty.Safe(text))})
	}
	if s := u.State; s != nil {
		l.State = &stateJSON{
			Hosted: !u.Ended, Session: s.Session, Role: role, Next: shownNames(s.Next), Waiting: shownNames(s.Waiting),
			Queue: shownQueue(s.Queue, secrets), Unsaved: s.Unsaved, Speaking: []speakingJSON{},
			Questions: []questionJSON{},
			Sent:      append([]string{}, s.Sent...),
		}
		for _, t := range s.Speaking {
			l.State.Speaking = append(l.State.Speaking, speakingJSON{t.Turn, t.Member, tty.SafeLine(t.Name), t.Since})
		}
		for _, q := range s.Questions {
			l.State.Questions = append(l.State.Questions, shownQuestion(q))
		}
	}
	return l
}

func shownNames(names []string) []string {
	shown := []string{}
	for _, name := range names {
		shown = append(shown, tty.SafeLine(name))
	}
	return shown
}

func shownQueue(queue []live.Queued, secrets *redact.Redactor) []live.Queued {
	shown := []live.Queued{}
	for _, q := range queue {
		q.Text, q.From = secrets.Text(tty.Safe(q.Text)), tty.SafeLine(q.From)
		shown = append(shown, q)
	}
	return shown
}

// shownQuestion describes a question. The page shows the first line as its title.
func shownQuestion(q live.Question) questionJSON {
	p := q.Permission
	asked := host.NewRequest(q.Name, p)
	shown := questionJSON{
		ID: q.ID, Turn: q.Turn, Member: q.Member, Name: tty.SafeLine(q.Name), Title: asked.Lines[0],
		Lines: append([]string{}, asked.Lines[1:]...), Omitted: strings.TrimSpace(asked.Omitted),
		Choices: []string{"allow", "session", "refuse"}, Questions: []optionJSON{},
	}
	for _, h := range asked.Hunks {
		if asked.Named {
			shown.HunksHTML += `<p class="path"><code>` + html.EscapeString(tty.SafeLine(h.Path)) + "</code></p>"
		}
		shown.HunksHTML += page.Hunks([]view.Hunk{h}, false)
	}
	if p.Omitted > 0 || len(p.Questions) > 0 {
		shown.Choices = []string{"allow", "refuse"}
	}
	for _, of := range p.Questions {
		option := optionJSON{
			Text: tty.Safe(of.Text), Header: tty.SafeLine(of.Header), Options: []answerOption{}, Several: of.Several,
			Free: of.Free, Optional: of.Optional, Secret: of.Secret,
		}
		for _, o := range of.Options {
			shown := answerOption{o.Label, tty.SafeLine(o.Label), tty.SafeLine(o.Description)}
			option.Options = append(option.Options, shown)
		}
		shown.Questions = append(shown.Questions, option)
	}
	if len(p.Questions) > 0 {
		shown.Title = tty.SafeLine(q.Name) + " asks"
		shown.Lines = []string{}
	}
	return shown
}
