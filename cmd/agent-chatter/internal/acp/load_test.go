package acp

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// load opens a session with its history.
func (e *testEditor) load(id sdk.SessionId) (sdk.LoadSessionResponse, error) {
	return e.LoadSession(e.t.Context(), sdk.LoadSessionRequest{
		SessionId: id, Cwd: e.cwd, McpServers: []sdk.McpServer{},
	})
}

// conversation runs a conversation in a home and returns what the editor shows of it.
func conversation(t *testing.T, home string) (id sdk.SessionId, shown string) {
	t.Helper()
	e := start(t, home, fakeTeam(t, home, "ada"))
	e.answer = func(sdk.RequestPermissionRequest) sdk.RequestPermissionOutcome {
		return sdk.NewRequestPermissionOutcomeSelected(allowOnce)
	}
	id = e.begin()
	e.say(id, "edit one", sdk.StopReasonEndTurn)
	e.say(id, "say **two**", sdk.StopReasonEndTurn)
	e.end()
	return id, e.text()
}

func TestLoadSendsTheSameTexts(t *testing.T) {
	home := t.TempDir()
	id, shown := conversation(t, home)
	e := start(t, home, "")
	for range 2 { // the second time it is open
		e.forget()
		if _, err := e.load(id); err != nil {
			t.Fatal(err)
		}
		if got := e.text(); got != shown || !strings.Contains(got, "**two**") {
			t.Errorf("loaded:\n%s\nwant:\n%s", got, shown)
		}
	}
	e.say(id, "say three", sdk.StopReasonEndTurn)
	e.end()
	if !says("three")(e.updates) {
		t.Errorf("after the load: %q", e.text())
	}
	if got := payloads(t, home, id); !contains[projection.SessionResumed](got) {
		t.Errorf("the events are %+v", got)
	}
}

func contains[P projection.Payload](all []projection.Payload) bool {
	for _, p := range all {
		if _, ok := p.(P); ok {
			return true
		}
	}
	return false
}

func TestResumeSendsNoHistory(t *testing.T) {
	home := t.TempDir()
	id, _ := conversation(t, home)
	e := start(t, home, "")
	if _, err := e.ResumeSession(t.Context(), sdk.ResumeSessionRequest{SessionId: id, Cwd: e.cwd}); err != nil {
		t.Fatal(err)
	}
	e.say(id, "say three", sdk.StopReasonEndTurn)
	e.end()
	if got := e.text(); strings.Contains(got, "two") || !strings.Contains(got, "three") {
		t.Errorf("shown: %q", got)
	}
}

// refused reports whether an error has a code and a text.
func refused(err error, code int, text string) bool {
	var request *sdk.RequestError
	return errors.As(err, &request) && request.Code == code && strings.Contains(request.Message, text)
}

func TestSessionsThatCannotBeOpened(t *testing.T) {
	home := t.TempDir()
	id, _ := conversation(t, home)
	e := start(t, home, "")
	log, _, err := store.NewFiles(newApp(t, home).Catalog).Open(t.Context(), "crew", string(id))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.load(id); !refused(err, -32603, fmt.Sprintf("is locked by process %d", os.Getpid())) {
		t.Errorf("a locked session: %v", err)
	}
	if err := log.Close(&projection.State{}); err != nil {
		t.Fatal(err)
	}
	if _, err := e.load("01JDQ3W7ZK8M5N6P7Q8R9S0T1A"); !refused(err, notFoundCode, "01JDQ3W7ZK8M5N6P7Q8R9S0T1A") {
		t.Errorf("a missing session: %v", err)
	}
	if _, err := e.load("latest"); !refused(err, notFoundCode, "latest") {
		t.Errorf("a name: %v", err)
	}
	if _, err := e.Prompt(t.Context(), promptOf(id, "hello")); !refused(err, notFoundCode, "not open") {
		t.Errorf("a prompt in a session that is not open: %v", err)
	}
	e.cwd = "somewhere"
	if _, err := e.load(id); !refused(err, -32602, "absolute") {
		t.Errorf("a relative directory: %v", err)
	}
}

func TestTeamOfTheDirectoryMustBeTrusted(t *testing.T) {
	home, elsewhere := t.TempDir(), t.TempDir()
	fakeTeam(t, elsewhere, "ada")
	e := start(t, home, "crew")
	dir := filepath.Join(e.cwd, ".agent-chatter")
	if err := os.Rename(elsewhere, dir); err != nil {
		t.Fatal(err)
	}
	_, err := e.NewSession(t.Context(), sdk.NewSessionRequest{Cwd: e.cwd, McpServers: []sdk.McpServer{}})
	want := "team trust " + filepath.Join(dir, "team-config", "crew.json")
	if !refused(err, -32603, want) {
		t.Errorf("an untrusted team: %v, want %q", err, want)
	}
}

func TestListHasPages(t *testing.T) {
	home := t.TempDir()
	e := start(t, home, "")
	files := store.NewFiles(newApp(t, home).Catalog)
	const sessions = pageSize + 20
	for i := range sessions {
		log, err := files.Create("crew", "")
		if err != nil {
			t.Fatal(err)
		}
		said := projection.Message{ID: "1", Speaker: projection.Speaker{ID: "you", Type: projection.TypeHuman}, Content: "hi"}
		events, err := log.Append(
			projection.Record(time.Now(), projection.SessionCreated{
				Format: 1, SessionID: log.SessionID(), CWD: []string{e.cwd, "/elsewhere"}[i%2],
				Team: projection.Team{ID: "crew"},
			}),
			projection.Record(time.Now(), projection.MessageAppended{Message: said}),
		)
		if err != nil {
			t.Fatal(err)
		}
		if err := log.Close(fold(events)); err != nil {
			t.Fatal(err)
		}
	}
	for cwd, want := range map[string]int{"": sessions, e.cwd: sessions / 2, "/nowhere": 0} {
		seen := map[sdk.SessionId]bool{}
		var request sdk.ListSessionsRequest
		if cwd != "" {
			request.Cwd = &cwd
		}
		for more := true; more; more = request.Cursor != nil {
			page, err := e.ListSessions(t.Context(), request)
			if err != nil || len(page.Sessions) > pageSize {
				t.Fatalf("%d sessions, %v", len(page.Sessions), err)
			}
			for _, s := range page.Sessions {
				if seen[s.SessionId] || s.Title == nil || *s.Title != "hi" || s.UpdatedAt == nil {
					t.Errorf("listed: %+v", s)
				}
				seen[s.SessionId] = true
			}
			request.Cursor = page.NextCursor
		}
		if len(seen) != want {
			t.Errorf("%d sessions in %q, want %d", len(seen), cwd, want)
		}
	}
	wrong := "!"
	if _, err := e.ListSessions(t.Context(), sdk.ListSessionsRequest{Cursor: &wrong}); !refused(err, -32602, "cursor") {
		t.Errorf("a wrong cursor: %v", err)
	}
}

func fold(events []journal.Event) *projection.State {
	var state projection.State
	for _, e := range events {
		state.Apply(e)
	}
	return &state
}

func TestForkThatCannotBeOpenedIsNotMade(t *testing.T) {
	home := t.TempDir()
	id, _ := conversation(t, home)
	if err := os.Remove(filepath.Join(home, "team-config", "crew.json")); err != nil {
		t.Fatal(err)
	}
	e := start(t, home, "")
	_, err := e.UnstableForkSession(t.Context(), sdk.UnstableForkSessionRequest{SessionId: id, Cwd: e.cwd})
	if !refused(err, notFoundCode, "configuration of the team") {
		t.Errorf("the fork: %v", err)
	}
	list, err := newApp(t, home).Catalog.List(t.Context(), catalog.Query{})
	if err != nil || len(list.Sessions) != 1 {
		t.Errorf("%d sessions, %v", len(list.Sessions), err)
	}
}

func TestForkCloseAndDelete(t *testing.T) {
	home := t.TempDir()
	id, _ := conversation(t, home)
	e := start(t, home, "")
	fork, err := e.UnstableForkSession(t.Context(), sdk.UnstableForkSessionRequest{SessionId: id, Cwd: e.cwd})
	if err != nil || fork.SessionId == id || len(fork.ConfigOptions) == 0 {
		t.Fatalf("the fork: %+v, %v", fork, err)
	}
	e.say(fork.SessionId, "say three", sdk.StopReasonEndTurn)
	if _, err := e.CloseSession(t.Context(), sdk.CloseSessionRequest{SessionId: fork.SessionId}); err != nil {
		t.Error(err)
	}
	if _, err := e.Prompt(t.Context(), promptOf(fork.SessionId, "hello")); !refused(err, notFoundCode, "not open") {
		t.Errorf("a prompt after the close: %v", err)
	}
	if _, err := e.load(id); err != nil {
		t.Error(err)
	}
	for _, id := range []sdk.SessionId{id, fork.SessionId, e.begin()} { // open, closed, and without events
		if _, err := e.UnstableDeleteSession(t.Context(), sdk.UnstableDeleteSessionRequest{SessionId: id}); err != nil {
			t.Errorf("%s was not deleted: %v", id, err)
		}
	}
	e.end()
	a := newApp(t, home)
	list, err := a.Catalog.List(t.Context(), catalog.Query{})
	trash, trashErr := a.Catalog.Trash(t.Context())
	if err != nil || trashErr != nil || len(list.Sessions) != 0 || len(trash) != 2 {
		t.Errorf("%d sessions, %d in the trash: %v, %v", len(list.Sessions), len(trash), err, trashErr)
	}
}
