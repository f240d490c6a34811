package api

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/journal/trash"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/catalog/sessioncopy"
)

func TestTimelineContinuesWhereItEnded(t *testing.T) {
	home := t.TempDir()
	dir := apptest.CrashedSession(t, home)
	d := newDesk(t, home)
	count := func(want int, to uint64) {
		t.Helper()
		got := read[timelineJSON](t, d, alice+"/timeline")
		if n := strings.Count(got.HTML, `href="#seq-`); n != want || got.To != to || got.Notice != "" {
			t.Errorf("%d turns and messages up to event %d, %q", n, got.To, got.Notice)
		}
	}
	count(6, 17)
	count(6, 17)
	log, err := dir.Open(t.Context(), apptest.AliceID)
	if err != nil {
		t.Fatal(err)
	}
	you := projection.Speaker{ID: "you", Name: "you", DisplayName: "You", Type: projection.TypeHuman}
	for i := range 200 {
		message := projection.NewMessage("m", time.Now(), you, strings.Repeat("a", i), nil)
		if _, err := log.Append(projection.Record(time.Now(), message)); err != nil {
			t.Fatal(err)
		}
	}
	count(206, log.Position().Seq)
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	// Another journal has the place of the first one.
	if err := trash.Of(dir).Move(t.Context(), apptest.AliceID); err != nil {
		t.Fatal(err)
	}
	if err := trash.Of(dir).Purge(apptest.AliceID); err != nil {
		t.Fatal(err)
	}
	apptest.CrashedSession(t, home)
	count(6, 17)
}

func TestTimelineOfADamagedSession(t *testing.T) {
	home := t.TempDir()
	dir := apptest.CrashedSession(t, home)
	log, err := dir.Open(t.Context(), apptest.AliceID)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := log.Append(projection.Record(time.Now(), projection.SessionRenamed{Title: "x"})); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	damage(t, home, 9, "t2")
	got := read[timelineJSON](t, newDesk(t, home), alice+"/timeline")
	if got.To != 8 || !strings.Contains(got.Notice, "damaged") || strings.Count(got.HTML, `href="#seq-`) != 3 {
		t.Errorf("%+v", got)
	}
}

func TestTimelinesAreBounded(t *testing.T) {
	key := func(id string) catalog.Key { return catalog.Key{ID: id} }
	var kept timelines
	first := kept.of(key("0"))
	for _, id := range []string{"1", "2", "3", "0", "4"} {
		kept.of(key(id))
	}
	if len(kept.kept) != maxTimelines || kept.of(key("0")) != first {
		t.Errorf("%d are kept", len(kept.kept))
	}
}

func TestCompare(t *testing.T) {
	home := t.TempDir()
	apptest.CrashedSession(t, home)
	d := newDesk(t, home)
	fork, err := sessioncopy.Fork(t.Context(), d.app.Catalog.Team("review"), apptest.AliceID, 8)
	if err != nil {
		t.Fatal(err)
	}
	got := read[comparisonJSON](t, d, "/api/compare?a="+aliceKey+"&b=review/"+fork)
	if got.Messages != 3 || got.A != 8 {
		t.Errorf("%+v", got)
	}
	for _, query := range []string{"", "?a=" + aliceKey, "?a=" + aliceKey + "&b=../x", "?a=review&b=review"} {
		if status, text := ask(t, d, http.MethodGet, "/api/compare"+query); status != http.StatusNotFound {
			t.Errorf("%q: %d, %s", query, status, text)
		}
	}
}
