package maintain

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// maintainTexts renders each text of the package with sample values.
func maintainTexts() []apptest.Text {
	at := time.Date(2025, 11, 27, 10, 30, 0, 0, time.UTC)
	ago := func(d time.Duration) time.Time { return at.Add(-d) }
	since := time.Date(2025, 11, 27, 10, 30, 0, 0, time.Local)
	alice := catalog.Session{ID: apptest.AliceID, TeamID: "review", Row: projection.Row{
		Title: "Write me a calculator", Preview: "Write me a calculator", MessageCount: 15, UpdatedAt: ago(2 * time.Hour),
	}}
	damaged, newer := alice, alice
	damaged.Damaged, newer.Newer = "line 3 is "+apptest.Hostile, "2"
	locked := &journal.LockedError{Path: filepath.Join("sessions", "review", apptest.AliceID+".jsonl"), Holder: journal.Holder{PID: 4711, Host: "desk", StartedAt: since}}
	corrupt := &journal.CorruptError{Path: "/home/hugo/.agent-chatter/sessions/review/" + apptest.AliceID + ".jsonl", Line: 7, Offset: 4096, Reason: "the sum does not match"}
	denied := &fs.PathError{Op: "open", Path: "/a/b", Err: syscall.EACCES}
	full := &fs.PathError{Op: "write", Path: "/a/b", Err: syscall.ENOSPC}
	const home, path = "/home/" + apptest.Hostile, "/home/" + apptest.Hostile + "/config.json"
	packed := damaged
	packed.Archived = true
	var texts []apptest.Text
	add := func(function, sample string, shown any) {
		texts = append(texts, apptest.Text{Function: function, Sample: sample, Shown: shown})
	}
	found := func(function, sample string, f app.Finding) {
		add(function, sample, fmt.Sprintf("%s: %s\n%s", f.State, f.What, (&app.App{}).Resolve(f).Help))
	}
	add("notRecordedText", "", notRecordedText(&catalog.NotRecordedError{Err: locked}))
	add("notRecordedText", "a full disk", notRecordedText(&catalog.NotRecordedError{Err: full}))
	add("undatedText", "", undatedText(apptest.AliceID))
	add("mendedText", "", mendedText(apptest.AliceID, "sessions.json did not agree with it", nil))
	add("mendedText", "that cannot be removed", mendedText(apptest.AliceID, "sessions.json did not agree with it", errors.New(apptest.Hostile)))
	add("emptyText", "", emptyText(journal.Info{ID: apptest.AliceID, Dir: filepath.Dir(corrupt.Path), Size: 4096}))
	add("strangerText", "", strangerText("/home/hugo/.agent-chatter/sessions/review/"+apptest.Hostile))
	add("reindexedDamagedText", "", reindexedDamagedText(2))
	add("wrongText", "one", wrongText(1))
	add("wrongText", "two", wrongText(2))
	found("homeText", "", homeText(home))
	found("homeToComeText", "", homeToComeText(home))
	found("homeWrongText", "", homeWrongText(denied))
	found("privateText", "", privateText())
	found("openText", "", openText(home, 1, everybody, path, 0o644))
	found("hiddenText", "", hiddenText(home, 2, path, 0o644))
	found("foreignText", "one", foreignText(home, 1, 1000, path))
	found("foreignText", "two", foreignText(home, 2, 1000, path))
	found("closedText", "", closedText(home, 1, path, 0o444))
	add("files", "", files(2))
	add("areFiles", "", areFiles(2))
	found("unreadableText", "", unreadableText(denied))
	found("noLockText", "", noLockText(errors.New(apptest.Hostile)))
	found("lockTwiceText", "", lockTwiceText(home))
	found("diskWrongText", "full", diskWrongText(full))
	found("diskWrongText", "else", diskWrongText(errors.New(apptest.Hostile)))
	found("diskText", "case matters", diskText(true))
	found("diskText", "case does not matter", diskText(false))
	add("spaceText", "", spaceText(3<<30, 17))
	add("spaceText", "inodes without a limit", spaceText(3<<30, math.MaxUint64))
	found("noSpaceText", "", noSpaceText(denied))
	for _, n := range []uint64{0, 1, 1023, 1024, 1536, 1 << 20, 5 << 40, math.MaxUint64} {
		add("bytesText", fmt.Sprint(n), bytesText(n))
	}
	found("watchesText", "", watchesText(usage{1, 128}, usage{2, 8192}))
	found("fewWatchesText", "", fewWatchesText(usage{127, 128}, usage{2, 8192}))
	found("configWrongText", "", configWrongText(errors.New("config.json: "+apptest.Hostile)))
	found("registryWrongText", "", registryWrongText(errors.New("agents/config.json: "+apptest.Hostile)))
	found("sessionsText", "", sessionsText("demo", 3))
	found("damagedText", "", damagedText(damaged))
	found("damagedText", "archived", damagedText(packed))
	found("leftoversText", "", leftoversText(home, 1, 2048))
	found("trashText", "", trashText(2, 2048))
	found("agentsText", "", agentsText(2))
	found("noProgramText", "", noProgramText(home, team.Agent{Name: apptest.Hostile, Command: apptest.Hostile}, errors.New("it is not there")))
	add("reindexedText", "", reindexedText(catalog.Session{ID: apptest.AliceID, LastSeq: 3}))
	return texts
}

func TestMaintainTexts(t *testing.T) { apptest.CheckTexts(t, maintainTexts()) }
