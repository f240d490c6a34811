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
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// maintainTexts renders each text of the package with sample values.
func maintainTexts() []apptest.Text {
	damaged := catalog.Session{ID: apptest.AliceID, TeamID: "review"}
	damaged.Damaged = "line 3 is " + apptest.Hostile
	archived := damaged
	archived.Archived = true
	holder := journal.Holder{
		PID: 4711, Host: "desk", StartedAt: time.Date(2025, 11, 27, 10, 30, 0, 0, time.Local),
	}
	locked := &journal.LockedError{
		Path: filepath.Join("sessions", "review", apptest.AliceID+".jsonl"), Holder: holder,
	}
	full := &fs.PathError{Op: "write", Path: "/a/b", Err: syscall.ENOSPC}
	hostile := errors.New(apptest.Hostile)
	const review = "/home/hugo/.agent-chatter/sessions/review"
	var texts []apptest.Text
	add := func(function, sample string, shown any) {
		texts = append(texts, apptest.Text{Function: function, Sample: sample, Shown: shown})
	}
	add("inUseText", "", inUseText(holder))
	add("freedText", "", freedText(2, 1024, false))
	add("freedText", "a dry run", freedText(1, 0, true))
	add("notRecordedText", "", notRecordedText(&catalog.NotRecordedError{Err: locked}))
	add("notRecordedText", "a full disk", notRecordedText(&catalog.NotRecordedError{Err: full}))
	add("restoredText", "", restoredText(apptest.AliceID))
	add("undatedText", "", undatedText(apptest.AliceID))
	add("noCriterionText", "", noCriterionText())
	add("cleanedText", "", cleanedText(2, 4711, false, false))
	add("cleanedText", "the trash, as a dry run", cleanedText(1, 4711, true, true))
	add("newerText", "", newerText(2))
	add("invalidHeaderText", "", invalidHeaderText(damaged))
	add("withoutSyncMarkText", "", withoutSyncMarkText(3))
	add("unsealedText", "", unsealedText(1, nil))
	add("unsealedText", "named", unsealedText(2, []string{apptest.Hostile, "latest"}))
	add("sealedText", "", sealedText(2, 3, false))
	add("sealedText", "a dry run", sealedText(1, 1, true))
	add("notSealedText", "", notSealedText())
	const problem = "sessions.json did not agree with it"
	add("invalidCacheText", "", invalidCacheText(apptest.AliceID, problem, nil))
	add("invalidCacheText", "that cannot be removed", invalidCacheText(apptest.AliceID, problem, hostile))
	add("emptyText", "", emptyText(journal.Info{ID: apptest.AliceID, Dir: review, Size: 4096}))
	add("unknownFileText", "", unknownFileText(review+"/"+apptest.Hostile))
	add("reindexedText", "", reindexedText(catalog.Session{ID: apptest.AliceID, LastSeq: 3}))
	add("reindexedText", "damaged", reindexedText(damaged))
	add("reindexedText", "archived", reindexedText(catalog.Session{ID: apptest.AliceID, LastSeq: 3, Archived: true}))
	add("damagedSessionsText", "", damagedSessionsText(2))
	add("problemsText", "one", problemsText(1))
	add("problemsText", "two", problemsText(2))
	add("spaceText", "", spaceText(3<<30, 17))
	add("spaceText", "inodes without a limit", spaceText(3<<30, math.MaxUint64))
	for _, n := range []uint64{0, 1, 1023, 1024, 1536, 1 << 20, 5 << 40, math.MaxUint64} {
		add("bytesText", fmt.Sprint(n), bytesText(n))
	}
	return append(texts, findingTexts(damaged, archived)...)
}

// findingTexts renders the findings of doctor with sample values.
func findingTexts(damaged, archived catalog.Session) []apptest.Text {
	const home, path = "/home/" + apptest.Hostile, "/home/" + apptest.Hostile + "/config.json"
	denied := &fs.PathError{Op: "open", Path: "/a/b", Err: syscall.EACCES}
	full := &fs.PathError{Op: "write", Path: "/a/b", Err: syscall.ENOSPC}
	hostile := errors.New(apptest.Hostile)
	var texts []apptest.Text
	found := func(function, sample string, f app.Finding) {
		shown := fmt.Sprintf("%s: %s\n%s", f.State, f.What, (&app.App{}).Resolve(f).Help)
		texts = append(texts, apptest.Text{Function: function, Sample: sample, Shown: shown})
	}
	found("homeText", "", homeText(home))
	found("newHomeText", "", newHomeText(home))
	found("invalidHomeText", "", invalidHomeText(denied))
	found("openText", "one", openText(home, 1, "all users", path, 0o644))
	found("openText", "two", openText(home, 2, "the group", path, 0o640))
	found("shieldedText", "", shieldedText(home, 2, path, 0o644))
	found("foreignText", "one", foreignText(home, 1, 1000, path))
	found("foreignText", "two", foreignText(home, 2, 1000, path))
	found("inaccessibleText", "", inaccessibleText(home, 1, path, 0o444))
	found("unreadableText", "", unreadableText(denied))
	found("noLockText", "", noLockText(hostile))
	found("notExclusiveText", "", notExclusiveText(home))
	found("diskFailedText", "full", diskFailedText(full))
	found("diskFailedText", "else", diskFailedText(hostile))
	found("diskText", "case-sensitive", diskText(true))
	found("diskText", "not case-sensitive", diskText(false))
	found("unknownSpaceText", "", unknownSpaceText(denied))
	found("watchesText", "", watchesText(usage{1, 128}, usage{2, 8192}))
	found("fewWatchesText", "", fewWatchesText(usage{127, 128}, usage{2, 8192}))
	found("invalidConfigText", "", invalidConfigText(errors.New("config.json: "+apptest.Hostile)))
	found("invalidRegistryText", "", invalidRegistryText(errors.New("agents/config.json: "+apptest.Hostile)))
	found("sessionsText", "", sessionsText("demo", 3))
	found("damagedText", "", damagedText(damaged))
	odd := damaged
	odd.Invalid, odd.FirstInvalid = 2, 12
	found("invalidEventsText", "", invalidEventsText(odd))
	found("damagedText", "archived", damagedText(archived))
	found("leftoversText", "", leftoversText(home, 1, 2048))
	found("trashText", "", trashText(2, 2048))
	found("agentsText", "", agentsText(2))
	missing := team.Agent{Name: apptest.Hostile, Command: apptest.Hostile}
	found("missingProgramText", "", missingProgramText(home, missing, errors.New("file not found")))
	return texts
}

func TestMaintainTexts(t *testing.T) { apptest.CheckTexts(t, maintainTexts()) }
