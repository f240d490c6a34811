package main

import (
	"path/filepath"

	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/redact"
	"github.com/agent-chatter/agent-chatter/projection/interchange"
)

// redactor replaces the secrets in what a command writes outside of a chat; nil, which replaces
// nothing, when the configuration says so. Without one that can be read they are replaced.
func (a *app) redactor(variables []redact.Variable) *redact.Redactor {
	if c, err := readConfig(filepath.Join(a.home, "config.json")); err == nil && c.keepSecrets() {
		return nil
	}
	return redact.New(variables)
}

// sayReplaced says what was replaced.
func (a *app) sayReplaced(r *redact.Redactor) {
	if found := r.Found(); len(found) > 0 {
		a.notice(secretsReplacedText(redact.Counted(found), len(found)))
	}
}

// titleWithoutSecrets is a title as it may be kept.
func (a *app) titleWithoutSecrets(title string) string {
	r := a.redactor(coordinator.InheritedSecrets())
	defer a.sayReplaced(r)
	return r.Text(title)
}

// takeSecrets replaces the secrets in a session of another program: those that have a shape,
// since whose environment it came from is not known, and a later save of it has to give the
// same.
func (a *app) takeSecrets(s *interchange.Session) {
	r := a.redactor(nil)
	defer a.sayReplaced(r)
	for i, m := range s.Messages {
		s.Messages[i].Content = r.Text(m.Content)
	}
	for _, turn := range s.Turns {
		for i, tool := range turn.Tools {
			turn.Tools[i].Input, turn.Tools[i].Output, turn.Tools[i].Error = r.JSON(tool.Input), r.Text(tool.Output), r.Text(tool.Error)
		}
	}
	s.Title = r.Text(s.Title)
	if s.Task != nil {
		task := r.Text(*s.Task)
		s.Task = &task
	}
}
