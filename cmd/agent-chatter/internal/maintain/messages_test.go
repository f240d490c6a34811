package maintain

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/regularfile"
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
	add("healedText", "", healedText(apptest.AliceID, apptest.AliceID+".aside-1"))
	add("healedText", "not healed", healedText(apptest.AliceID, ""))
	add("wouldForkText", "", wouldForkText(apptest.AliceID))
	add("repairedAsForkText", "", repairedAsForkText(apptest.AliceID, "01KAH9TQ4GJ5X8C2VRB0ME7QN3"))
	add("inUseText", "", inUseText(holder))
	add("freedText", "", freedText(20, 2, 1024, false))
	add("freedText", "with more checkpoints", freedText(2, 2, -1024, false))
	add("freedText", "a dry run", freedText(1, 0, 0, true))
	add("sweptText", "", sweptText(12345))
	add("droppedText", "", droppedText(3, 2<<30, false))
	add("droppedText", "a dry run", droppedText(1, 2<<30, true))
	add("overLimitText", "", overLimitText(2<<30))
	add("notSweptText", "", notSweptText(errors.New("cannot read "+apptest.Hostile)))
	add("compactedText", "", compactedText(compacted{sessions: 20, changed: 2, freed: 1024}, false))
	add("compactedText", "none", compactedText(compacted{}, false))
	add("compactedText", "nothing to do", compactedText(compacted{sessions: 20, freed: 0}, true))
	add("compactedText", "with more checkpoints", compactedText(compacted{sessions: 1, changed: 1, freed: -1}, false))
	add("compactedText", "skipped", compactedText(compacted{sessions: 2, skipped: 2}, false))
	add("compactedText", "a dry run", compactedText(compacted{sessions: 3, changed: 2, skipped: 1, freed: 9}, true))
	for _, action := range []string{"checkpointed", "archived", "trashed", "deleted"} {
		add("actionText", action, actionText(action, 18, false))
		add("actionText", action+", a dry run", actionText(action, 18, true))
	}
	add("busyText", "", busyText(locked))
	add("busyText", "a link", busyText(&regularfile.KindError{}))
	add("busyText", "appended", busyText(catalog.ErrChanged))
	add("notRecordedText", "", notRecordedText(fmt.Errorf("not all changes were recorded: %w", locked)))
	add("notRecordedText", "a full disk", notRecordedText(fmt.Errorf("not all changes were recorded: %w", full)))
	add("restoredText", "", restoredText(apptest.AliceID))
	add("undatedText", "", undatedText(apptest.AliceID))
	add("noCriterionText", "", noCriterionText())
	add("cleanedText", "", cleanedText(2, 4711, false, false))
	add("cleanedText", "the trash, as a dry run", cleanedText(1, 4711, true, true))
	add("movedText", "", movedText(2, false, true))
	add("cleanedSumText", "", cleanedSumText(&Clean{done: 2, bytes: 4711}))
	add("cleanedSumText", "none", cleanedSumText(&Clean{Trash: true, DryRun: true}))
	add("cleanedSumText", "skipped", cleanedSumText(&Clean{skipped: 1}))
	add("cleanedSumText", "the trash, as a dry run", cleanedSumText(&Clean{done: 1, bytes: 1, skipped: 2, Trash: true, DryRun: true}))
	add("newerText", "", newerText(2))
	add("verifiedText", "", verifiedText(tally{sessions: 214, bytes: 3 << 30}, false))
	add("tally.err", "all faults", app.Explain((&tally{
		sessions: 14, helps: []app.Message{app.Text("HELP")}, newer: 1, unreadable: 3,
	}).err(true)))
	add("unreadableText", "", unreadableText(1, 3))
	add("tally.err", "not listed", app.Explain((&tally{sessions: 3}).err(true)))
	add("verifiedText", "none", verifiedText(tally{}, false))
	add("verifiedText", "damaged", verifiedText(tally{sessions: 1, bytes: 1, helps: make([]app.Message, 1)}, false))
	add("verifiedText", "all faults", verifiedText(
		tally{sessions: 14, bytes: 4711, helps: make([]app.Message, 2), newer: 1, unreadable: 3}, true))
	add("invalidHeaderText", "", invalidHeaderText(damaged))
	add("parentText", "", parentText(apptest.AliceID, "01KAH9TQ4GJ5X8C2VRB0ME7QN3"))
	add("withoutSyncMarkText", "", withoutSyncMarkText(3))
	add("unsealedText", "", unsealedText(1, nil))
	add("unsealedText", "named", unsealedText(2, []string{apptest.Hostile, "latest"}))
	add("sealedText", "", sealedText(2, 3, false))
	add("sealedText", "a dry run", sealedText(1, 1, true))
	add("sealedSumText", "", sealedSumText(2, 0, 3, false))
	add("sealedSumText", "none", sealedSumText(0, 0, 0, false))
	add("sealedSumText", "skipped", sealedSumText(0, 1, 1, false))
	add("sealedSumText", "a dry run", sealedSumText(1, 2, 3, true))
	add("notSealedText", "", notSealedText())
	add("setAsideText", "", setAsideText(apptest.AliceID, damagedRange{Offset: 4711, Bytes: 1, Reason: "checksum mismatch"}, "set aside"))
	aside := []damagedRange{{Offset: 4711, Bytes: 1}}
	add("repairedText", "", repairedText(repairResult{Kept: 2, SetAside: aside, Aside: review + "/a.aside-1"}, false))
	add("repairedText", "a dry run", repairedText(repairResult{Kept: 1, SetAside: aside}, true))
	add("repairedText", "nothing", repairedText(repairResult{ID: apptest.AliceID}, false))
	add("repairedText", "torn", repairedText(repairResult{Torn: &damagedRange{Offset: 4711}}, false))
	const problem = "sessions.json disagreed with its journal"
	add("invalidCacheText", "", invalidCacheText(apptest.AliceID, problem, nil))
	add("invalidCacheText", "that cannot be removed", invalidCacheText(apptest.AliceID, problem, hostile))
	add("retentionTornText", "", retentionTornText(review, journal.Torn{Offset: 210, Bytes: 95, Reason: apptest.Hostile}))
	add("emptyText", "", emptyText(4096))
	add("unknownFileText", "", unknownFileText(review+"/"+apptest.Hostile))
	add("reindexedText", "", reindexedText(catalog.Session{ID: apptest.AliceID, LastSeq: 3}))
	add("reindexedText", "damaged", reindexedText(damaged))
	add("reindexedText", "archived", reindexedText(catalog.Session{ID: apptest.AliceID, LastSeq: 3, Archived: true}))
	add("reindexedText", "unreadable", reindexedText(catalog.Session{ID: apptest.AliceID, ReadErr: fs.ErrPermission}))
	add("reindexedSumText", "", reindexedSumText(214, 0, 0, false))
	add("reindexedSumText", "none", reindexedSumText(0, 0, 0, false))
	add("reindexedSumText", "damaged", reindexedSumText(1, 1, 0, false))
	add("reindexedSumText", "unreadable", reindexedSumText(3, 1, 2, false))
	add("reindexedSumText", "failed", reindexedSumText(0, 0, 0, true))
	add("damagedSessionsText", "", damagedSessionsText(2))
	return texts
}

func TestMaintainTexts(t *testing.T) { apptest.CheckTexts(t, maintainTexts()) }
