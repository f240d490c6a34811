package chat

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/host"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/keys"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/transfer"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// chatTexts renders each text of the package with sample values.
func chatTexts() []apptest.Text {
	at := time.Date(2025, 11, 27, 10, 30, 0, 0, time.UTC)
	ago := func(d time.Duration) time.Time { return at.Add(-d) }
	since := time.Date(2025, 11, 27, 10, 30, 0, 0, time.Local)
	alice := catalog.Session{ID: apptest.AliceID, TeamID: "review", Row: projection.Row{
		Title: "Write me a calculator", Preview: "Write me a calculator", MessageCount: 15,
		UpdatedAt: ago(2 * time.Hour),
	}}
	bob := catalog.Session{ID: apptest.BobID, TeamID: apptest.Hostile, Row: projection.Row{
		Title: apptest.Hostile, Preview: apptest.Hostile, MessageCount: 1, UpdatedAt: ago(3 * 24 * time.Hour),
	}}
	var texts []apptest.Text
	add := func(function, sample string, shown any) {
		texts = append(texts, apptest.Text{Function: function, Sample: sample, Shown: shown})
	}
	add("splitText", "", splitText(apptest.AliceID, apptest.BobID))
	add("unknownCommandText", "similar", unknownCommandText("/staus", "/status", "/staus "+apptest.Hostile))
	add("unknownCommandText", "none similar", unknownCommandText("/"+apptest.Hostile, "", "/"+apptest.Hostile))
	add("notCancelledText", "", notCancelledText(apptest.Hostile))
	add("noPanelistText", "", noPanelistText(apptest.Hostile, team.Demo()))
	add("attachedText", "", attachedText(apptest.AliceID, apptest.Hostile))
	add("notTakenText", "", notTakenText(errors.New(apptest.Hostile)))
	add("noDirectoryText", "", noDirectoryText("/"+apptest.Hostile, nil))
	add("notAllowedText", "", notAllowedText("/"+apptest.Hostile))
	add("notBegunText", "", notBegunText(""))
	add("noTeamText", "", noTeamText(apptest.Hostile))
	add("noPageText", "", noPageText())
	add("oneConversationText", "", oneConversationText())
	add("tooManyHostedText", "", tooManyHostedText())
	add("noArgumentText", "", noArgumentText("/members"))
	add("restoredText", "", restoredText(since))
	add("unsetPermissionsText", "", unsetPermissionsText([]string{"ada", apptest.Hostile}))
	keeps := &coordinator.KeepsSessionError{Member: team.Member{DisplayName: apptest.Hostile}}
	add("keepsSessionText", "", keepsSessionText(keeps, &team.Team{Source: &team.Source{Path: "/a/" + apptest.Hostile}}))
	add("keepsSessionText", "a built-in team", keepsSessionText(keeps, &team.Team{}))
	add("interruptedTurnText", "", interruptedTurnText("Ada"))
	add("importedText", "", importedText(transfer.Imported{
		Path: apptest.Hostile, ID: apptest.AliceID, Action: "imported", Taken: 3, Total: 3,
	}))
	add("severalInBundleText", "", severalInBundleText("/"+apptest.Hostile, 2))
	add("capturingText", "", capturingText(12_000))
	add("taskText", "", taskText(apptest.Hostile))
	add("rewindHowText", "", rewindHowText(rewind{at: "turn:2", paths: []string{apptest.Hostile}}))
	add("rewindHowText", "undo", rewindHowText(rewind{undo: true}))
	add("notForkedText", "", notForkedText(apptest.Hostile))
	add("rewindPointsText", "", rewindPointsText([]rewindPoint{
		{text: apptest.Hostile, time: ago(time.Hour)}, {text: "fix it", time: ago(time.Minute), files: 3, plus: 40, minus: 7},
	}, at, 60))
	add("renamedText", "", renamedText(apptest.Hostile))
	add("notSentText", "", notSentText(1))
	add("wrongLimitText", "", wrongLimitText(apptest.Hostile, errors.New(apptest.Hostile)))
	add("budgetText", "", budgetText([]team.Bound{
		{Per: team.PerSession, Of: team.Cost, Most: 2.5}, {Per: team.PerDay, Of: team.Tokens, Most: 1e6},
	}))
	add("budgetText", "no limit", budgetText(nil))
	add("roundsText", "one", roundsText(1, 10))
	add("roundsText", "a lower limit", roundsText(11, 10))
	add("roundsText", "no limit", roundsText(3, 0))
	add("roundsText", "the default limit", roundsText(44, 50))
	add("roundsText", "the default limit, near its end", roundsText(45, 50))
	add("resumingText", "", resumingText(since, 5, 2, 10))
	add("resumingText", "no limit", resumingText(since, 5, 2, 0))
	add("asksText", "", asksText(apptest.Hostile))
	add("keysText", "", keysText(keys.Bindings{{Code: 't', Mod: tty.Ctrl}: keys.Actions()[0]}))
	add("memberContextText", "", memberContextText(team.Member{DisplayName: apptest.Hostile, Memory: team.MemoryWindow},
		coordinator.Context{Used: 24_400, Window: 200_000}, coordinator.WindowCut{Shown: 20, All: 62}, true))
	add("memberContextText", "unknown", memberContextText(team.Member{DisplayName: "Ada"}, coordinator.Context{},
		coordinator.WindowCut{}, false))
	add("placeText", "", placeText("/src/"+apptest.Hostile, apptest.Hostile))
	add("nextNamesText", "", nextNamesText([]coordinator.Queued{{Member: team.Member{DisplayName: apptest.Hostile}}, {}}))
	active := coordinator.Status{Phase: coordinator.Active, Waiting: "hugo"}
	calc := coordinator.Session{
		ID: "01HZ", TeamName: "calc", Stats: projection.Stats{Usage: projection.Totals{Input: 12, Output: 3}},
	}
	add("look.StatusText", "a turn", statusText(status{
		Session: &calc, Status: active, Speaking: []string{apptest.Hostile},
		Queued: []coordinator.Queued{{Member: team.Member{Name: apptest.Hostile}}, {Member: team.Member{Name: "bea"}}},
	}, []string{apptest.Hostile, "/rename later", "hello"}))
	add("look.StatusText", "a queued message", statusText(status{Session: &calc, Status: active, Speaking: []string{"ada"}},
		[]string{strings.Repeat("hello ", 20)}))
	add("look.StatusText", "costs", statusText(status{
		Status: coordinator.Status{Phase: coordinator.Paused, Waiting: "hugo"}, Session: &coordinator.Session{
			ID: "01HZ", TeamName: apptest.Hostile, Title: apptest.Hostile,
			Stats: projection.Stats{Messages: 2, Turns: 1, Usage: projection.Totals{
				Input: 1, CachedRead: 12000, CachedWrite: 800, Output: 340, Thought: 56,
				Costs: map[string]float64{"USD": 0.1 + 0.2, "EUR": 0.00001},
			}},
		}}, nil))
	add("offer.Question", "", offerQuestion(alice.Row, at))
	add("offer.Question", "hostile", offerQuestion(bob.Row, at))
	add("offerList", "", offerList([]catalog.Session{alice, bob}, at, 0))
	add("offerList", "a narrow terminal", offerList([]catalog.Session{alice, bob}, at, 36))
	for _, d := range []time.Duration{
		-time.Hour, 59 * time.Second, time.Minute, 59 * time.Minute,
		time.Hour, 23 * time.Hour, 24 * time.Hour, 400 * 24 * time.Hour,
	} {
		add("longAge", d.String(), app.LongAge(ago(d), at))
		add("age", d.String(), app.Age(ago(d), at))
	}
	add("directoryText", "", directoryText("/a/"+apptest.Hostile))
	add("archivedFileText", "", archivedFileText("/a/"+apptest.Hostile+"/archive/"+apptest.AliceID+".jsonl.zst"))
	add("statusText", "", statusText(status{
		Session: &coordinator.Session{ID: apptest.AliceID, Title: apptest.Hostile, TeamName: apptest.Hostile},
		Status:  coordinator.Status{Phase: coordinator.Paused, Waiting: apptest.Hostile}, Speaking: []string{apptest.Hostile},
	}, []string{apptest.Hostile, "and this"}))
	add("pinnedText", "", pinnedText(true))
	add("pinnedText", "not any more", pinnedText(false))
	add("hiddenCommandsText", "", hiddenCommandsText([]string{"/a/" + apptest.Hostile + "/commands/help.md", "/b"}))
	add("ownText", "", ownText([]host.OwnCommand{{Name: "/review"}, {Name: "/fix"}}))
	many := slices.Repeat([]host.OwnCommand{{Name: "/a-long-name-of-a-command"}}, 9)
	add("ownText", "many", ownText(many))
	return texts
}

func TestChatTexts(t *testing.T) {
	apptest.CheckTexts(t, slices.Concat(chatTexts(), permissionTexts(), bannerTexts(), followTexts(), queueTexts()))
}

// chatPromises are texts that must not change.
var chatPromises = []apptest.Promise{
	{Behaviour: "/team deploy offers the latest session",
		Got: offerQuestion(projection.Row{
			MessageCount: 15, Preview: "first message", UpdatedAt: time.Unix(0, 0),
		}, time.Unix(2*3600, 0)),
		Want: "Found previous session (2 hours ago, 15 messages)\n  15 messages - \"first message\"\n" +
			"[R] Resume  [N] Start New"},
	{Behaviour: "/resume lists sessions",
		Got: offerList([]catalog.Session{
			{ID: "session-m5abc-xyz", Row: projection.Row{
				Title: "Write a calculator", UpdatedAt: time.Unix(22*3600, 0),
			}},
			{ID: "session-k3def-uvw", Row: projection.Row{Title: "Repair the login", UpdatedAt: time.Unix(0, 0)}},
		}, time.Unix(24*3600, 0), 0),
		Want: "Recent Sessions:\n  1. [-xyz] Write a calculator (2h ago)\n  2. [-uvw] Repair the login (1d ago)\n" +
			"Enter number or session ID to resume (or press Enter to cancel):"},
}

func TestChatPromises(t *testing.T) { apptest.CheckPromises(t, chatPromises) }
