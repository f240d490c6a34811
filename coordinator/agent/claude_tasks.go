package agent

import (
	"encoding/json"
	"regexp"
	"slices"
	"sync"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/jsonlines"
)

// claudeTasks is the todo list that Claude Code keeps with a tool for each change. The zero value is an
// empty list.
type claudeTasks struct {
	ids     []string
	entries []PlanEntry
	asked   map[string]claudeTask // by the id of the tool's use, until its result arrives
}

// A claudeTask is the input of TaskCreate or TaskUpdate.
type claudeTask struct {
	create  bool
	ID      string `json:"taskId"`
	Subject string `json:"subject"`
	Status  string `json:"status"`
}

// maxTasks is the maximum number of entries of a list.
const maxTasks = 1000

// ask notes a use of a tool.
func (l *claudeTasks) ask(useID, tool string, input json.RawMessage) {
	task := claudeTask{create: tool == "TaskCreate"}
	if !task.create && tool != "TaskUpdate" || len(l.asked) >= maxTasks || !jsonlines.Decode(input, &task) {
		return
	}
	if l.asked == nil {
		l.asked = map[string]claudeTask{}
	}
	task.ID, task.Subject = label(task.ID), label(task.Subject)
	l.asked[useID] = task
}

// createdTask matches the result of TaskCreate, which has the id of the task.
var createdTask = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^Task #(\S+) created`)
})

// done applies the use of a tool that has succeeded, and returns the list if it has changed.
func (l *claudeTasks) done(useID, result string, failed bool) []Event {
	task, ok := l.asked[useID]
	delete(l.asked, useID)
	if !ok || failed {
		return nil
	}
	if task.create {
		id := createdTask().FindStringSubmatch(result)
		if id == nil || len(l.ids) >= maxTasks {
			return nil
		}
		l.ids = append(l.ids, label(id[1]))
		l.entries = append(l.entries, PlanEntry{Content: task.Subject, Status: "pending"})
		return []Event{Plan{slices.Clone(l.entries)}}
	}
	at := slices.Index(l.ids, task.ID)
	switch {
	case at < 0:
		return nil
	case task.Status == "deleted":
		l.ids, l.entries = slices.Delete(l.ids, at, at+1), slices.Delete(l.entries, at, at+1)
	default:
		entry := &l.entries[at]
		if task.Status != "" {
			entry.Status = label(task.Status)
		}
		if task.Subject != "" {
			entry.Content = task.Subject
		}
	}
	return []Event{Plan{slices.Clone(l.entries)}}
}
