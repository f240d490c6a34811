package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"syscall"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/coordinator/workspace"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// doctorTexts renders each text of the package with sample values.
func doctorTexts() []apptest.Text {
	damaged := catalog.Session{ID: apptest.AliceID, TeamID: "review"}
	damaged.Damaged = "line 3 is " + apptest.Hostile
	archived := damaged
	archived.Archived = true
	var texts []apptest.Text
	add := func(function, sample string, shown any) {
		texts = append(texts, apptest.Text{Function: function, Sample: sample, Shown: shown})
	}
	add("problemsText", "one", problemsText(1))
	add("problemsText", "two", problemsText(2))
	add("protocolText", "", protocolText("acp", "an editor", errors.New(apptest.Hostile)))
	add("checkedText", "", checkedText(13, 0, 0))
	add("checkedText", "notes", checkedText(13, 0, 2))
	add("checkedText", "a problem", checkedText(1, 1, 0))
	add("checkedText", "all", checkedText(13, 2, 1))
	add("notifyText", "", notifyText("notify-send"))
	add("spaceText", "", spaceText(3<<30, 17))
	add("spaceText", "inodes without a limit", spaceText(3<<30, math.MaxUint64))
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
	found("noLockText", "full", noLockText(full))
	found("untestedLockText", "", untestedLockText(hostile))
	found("notExclusiveText", "", notExclusiveText(home))
	found("diskFailedText", "full", diskFailedText(full))
	found("diskFailedText", "else", diskFailedText(hostile))
	found("diskText", "case-sensitive", diskText(true))
	found("diskText", "not case-sensitive", diskText(false))
	found("spaceFinding", "", spaceFinding(minBytes-1, lowInodes))
	found("unknownSpaceText", "", unknownSpaceText(denied))
	found("watchesText", "", watchesText(usage{1, 128}, usage{2, 8192}))
	found("fewWatchesText", "", fewWatchesText(usage{127, 128}, usage{2, 8192}))
	found("dayText", "", dayText("/home/hugo/.agent-chatter/usage-day.json", "2030-01-01", nil))
	found("dayText", "not readable", dayText("/home/hugo/usage-day.json", "", errors.New(apptest.Hostile)))
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
	found("capturedText", "", capturedText(2, 2048))
	found("worktreesText", "", worktreesText(slices.Repeat([]workspace.FoundWorktree{{Dir: apptest.Hostile}}, 21)))
	found("noGitText", "", noGitText())
	found("invalidTrustText", "", invalidTrustText(errors.New("trust.json: "+apptest.Hostile)))
	found("devicesText", "", devicesText(2))
	found("invalidDevicesText", "", invalidDevicesText(errors.New("devices file: "+apptest.Hostile)))
	found("keyText", "", keyText(hostile))
	found("unsetPermissionsText", "", unsetPermissionsText(apptest.Hostile, []string{"ada", apptest.Hostile}))
	found("agentsText", "", agentsText(2))
	missing := team.Agent{Name: apptest.Hostile, Command: apptest.Hostile}
	found("missingProgramText", "", missingProgramText(home, missing, errors.New("file not found")))
	found("untriedText", "", untriedText(agent.Known{Name: "codex", DisplayName: "Codex"}, apptest.Hostile, "0.171.0"))
	found("openerText", "", openerText("xdg-open"))
	found("noOpenerText", "", noOpenerText("xdg-open"))
	return texts
}

func TestDoctorTexts(t *testing.T) { apptest.CheckTexts(t, doctorTexts()) }
