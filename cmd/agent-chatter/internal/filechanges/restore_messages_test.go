package filechanges

import (
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/workspace"
	"github.com/agent-chatter/agent-chatter/coordinator/workspace/objects"
)

// restoreTexts renders each text of the restore with sample values.
func restoreTexts() (texts []apptest.Text) {
	add := func(function, sample string, shown any) {
		texts = append(texts, apptest.Text{Function: function, Sample: sample, Shown: shown})
	}
	kept := []workspace.Kept{
		{Path: apptest.Hostile, Why: apptest.Hostile}, {Path: "b", Why: "you changed it after turn 12"},
	}
	add("planText", "nothing", planText("/w", workspace.Plan{}))
	add("planText", "", planText(apptest.Hostile, workspace.Plan{Kept: kept}))
	link := objects.Entry{Mode: objects.ModeLink | 0o777, Hash: objects.HashOf([]byte("/etc/passwd"))}
	file := objects.Entry{Mode: objects.ModeFile | 0o644, Hash: objects.HashOf([]byte("a"))}
	asOwner := objects.Entry{Mode: objects.ModeFile | 0o4755, Hash: file.Hash}
	add("kindText", "link", kindText(workspace.Step{Target: link}))
	add("kindText", "mode", kindText(workspace.Step{Present: file, Target: asOwner}))
	add("kindText", "setuid", kindText(workspace.Step{Target: asOwner}))
	add("kindText", "content", kindText(workspace.Step{Present: link, Target: file}))
	add("restoredText", "nothing", restoredText(workspace.Result{}))
	add("restoredText", "", restoredText(workspace.Result{Written: []string{apptest.Hostile}, Removed: []string{"a"}}))
	add("notRestoredText", "", notRestoredText(workspace.Result{Kept: kept, Failed: kept[:1]}))
	add("restoreWhatText", "", restoreWhatText(apptest.AliceID))
	add("notConfirmedText", "", notConfirmedText())
	add("leftText", "", leftText(kept))
	add("noFilesText", "", noFilesText(apptest.AliceID, new(coordinator.NoFilesError)))
	add("noFilesText", "from elsewhere", noFilesText(apptest.AliceID, &coordinator.NoFilesError{Foreign: true}))
	add("noRestoreText", "", noRestoreText(apptest.AliceID))
	add("notBelowText", "", notBelowText(apptest.AliceID, "../"+apptest.Hostile))
	add("noPathText", "", noPathText(apptest.AliceID, apptest.Hostile, apptest.Hostile))
	add("noFilesText", "another directory", noFilesText(apptest.AliceID, &coordinator.NoFilesError{Dirs: []string{apptest.Hostile}}))
	add("noFilesText", "several directories", noFilesText(apptest.AliceID, &coordinator.NoFilesError{Dirs: []string{"/a", apptest.Hostile}}))
	return texts
}
