package view

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
)

func TestNoticesOfAgents(t *testing.T) {
	ada := team.Member{ID: "a", DisplayName: "Ada"}
	crew := &team.Team{Members: []team.Member{ada}}
	retry := agent.Retry{Reason: "429"}
	for _, tt := range []struct {
		notice coordinator.Notice
		want   string
	}{
		{coordinator.PromptTruncated{Member: ada, Messages: 2}, promptCutText("Ada", 2)},
		{coordinator.WindowCut{Member: ada, Shown: 20, All: 32}, windowCutText("Ada", "", 20, 32)},
		{coordinator.MessageTruncated{Member: ada, Bytes: 3}, messageCutText("Ada", 3)},
		{coordinator.SettingUnsupported{MemberID: "a", Setting: "thinking"}, unsupportedText("Ada", "thinking")},
		{coordinator.Retrying{Member: ada, Retry: retry}, retryingText("Ada", retry)},
		{coordinator.Written{}, ""},
	} {
		if got := noticeText(tt.notice, crew); got != tt.want {
			t.Errorf("%T: %q, want %q", tt.notice, got, tt.want)
		}
	}
	for _, tt := range []struct {
		retry agent.Retry
		want  string
	}{
		{agent.Retry{Reason: "429", Try: 1}, "Ada is retrying: 429"},
		{agent.Retry{Reason: "429", Max: 1}, "Ada is retrying: 429"},
		{agent.Retry{Reason: "429", Try: 1, Max: 1}, "Ada is retrying, try 1 of 1 failed: 429"},
		{agent.Retry{Reason: "429", Wait: time.Nanosecond}, "Ada is retrying in 1s: 429"},
		{agent.Retry{Reason: "429", Wait: 1500 * time.Millisecond}, "Ada is retrying in 2s: 429"},
	} {
		if got := retryingText("Ada", tt.retry); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.retry, got, tt.want)
		}
	}
}

func TestReporterReportsSaves(t *testing.T) {
	event := func(r *Reporter) { r.Event(coordinator.Event{Unsaved: true}) }
	status := func(id string, unsaved bool, phase coordinator.Phase) func(*Reporter) {
		return func(r *Reporter) { r.Status(coordinator.Status{SessionID: id, Unsaved: unsaved, Phase: phase}) }
	}
	for _, tt := range []struct {
		name   string
		manual bool
		do     []func(*Reporter)
		saves  int
		shown  string
		id     string
	}{
		{"a save", false, []func(*Reporter){event, status("s", false, coordinator.Paused)}, 1, "", "s"},
		{"no events", false, []func(*Reporter){status("s", false, coordinator.Paused)}, 0, "", "s"},
		{"no session", false, []func(*Reporter){event, status("", false, coordinator.Paused)}, 0, "", ""},
		{"during a turn", false, []func(*Reporter){event, status("s", false, coordinator.Active)}, 0, "", "s"},
		{"in memory", false, []func(*Reporter){event, status("s", true, coordinator.Paused)}, 0, "", "s"},
		{"a save after a failed one", false,
			[]func(*Reporter){event, status("s", true, coordinator.Paused), status("s", false, coordinator.Paused)},
			1, "✓ Everything is saved again.\n", "s"},
		{"a save by the user", true,
			[]func(*Reporter){event, status("s", true, coordinator.Paused), status("s", false, coordinator.Paused)},
			1, "✓ Everything is saved.\n", "s"},
		{"another conversation", false, []func(*Reporter){
			event, status("s", true, coordinator.Paused), func(r *Reporter) { r.Begin(&team.Team{}) }, status("", false, coordinator.Idle),
			status("t", false, coordinator.Paused),
		}, 0, "", "t"},
	} {
		var shown bytes.Buffer
		saves := 0
		r := &Reporter{
			App: &app.App{Printer: app.Printer{IO: app.IO{Stdout: &shown, Stderr: &shown}}}, Team: &team.Team{}, ManualSave: tt.manual,
			Saved: func() { saves++ },
		}
		for _, do := range tt.do {
			do(r)
		}
		if saves != tt.saves || r.SessionID != tt.id || strings.TrimSpace(shown.String()) != strings.TrimSpace(tt.shown) {
			t.Errorf("%s: %d saves of session %q, %q", tt.name, saves, r.SessionID, shown.String())
		}
	}
}
