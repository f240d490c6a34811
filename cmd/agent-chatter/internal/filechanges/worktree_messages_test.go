package filechanges

import (
	"errors"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/workspace"
	"github.com/agent-chatter/agent-chatter/coordinator/workspace/objects"
)

// worktreeTexts renders each text of worktrees with sample values.
func worktreeTexts() (texts []apptest.Text) {
	const id, hostile = apptest.AliceID, apptest.Hostile
	add := func(function, sample string, shown any) {
		texts = append(texts, apptest.Text{Function: function, Sample: sample, Shown: shown})
	}
	merged := &workspace.Merged{Conflicts: []string{"b"}}
	add("mergeText", "nothing", mergeText("/w", hostile, merged))
	file := objects.Entry{Mode: objects.ModeFile}
	merged.Plan.Writes = []workspace.Step{{Path: hostile, Target: file}, {Path: "b", Present: file, Target: file}}
	merged.Plan.Kept = []workspace.Kept{{Path: "c", Why: hostile}}
	add("mergeText", "", mergeText(hostile, "ada", merged))
	add("textConflict", "", textConflict)
	add("mergeNotConfirmedText", "", mergeNotConfirmedText())
	add("missingDirText", "the directory", missingDirText(id, "ada", hostile, "/w"))
	add("missingDirText", "the worktree", missingDirText(id, "ada", "/w", "/w"))
	add("beyondLimitsText", "", beyondLimitsText(hostile, "ada"))
	add("noMergePathText", "", noMergePathText(id, hostile))
	add("noWorktreeText", "", noWorktreeText(id, hostile, nil))
	add("noWorktreeText", "with others", noWorktreeText(id, "eve", []string{"bea", hostile}))
	add("notOwnText", "", notOwnText(id, "ada", "/h/worktrees/s/ada", "s"))
	add("notOwnText", "another home", notOwnText(id, "ada", hostile, ""))
	add("droppedText", "", droppedText(id, hostile))
	lost := workspace.Losses{
		Unmerged: []objects.Change{{Path: hostile}}, Skipped: []workspace.Skipped{{Path: "big", Why: hostile}},
		Ignored: make([]string, 25), Repositories: make([]string, 22), Head: "0123456789abcdef", Commits: 2,
	}
	add("lossesText", "nothing", lossesText(hostile, &coordinator.PreparedDrop{}))
	add("lossesText", "missing", lossesText(hostile, &coordinator.PreparedDrop{Missing: true}))
	add("lossesText", "", lossesText(hostile, &coordinator.PreparedDrop{Losses: lost}))
	lost.IgnoredMore = true
	add("lossesText", "very many", lossesText("/w", &coordinator.PreparedDrop{Losses: lost}))
	unknown := workspace.Losses{Unknown: []string{"which commits only it has: " + hostile}}
	add("lossesText", "unknown", lossesText("/w", &coordinator.PreparedDrop{Losses: unknown}))
	missing := coordinator.PreparedDrop{Missing: true, Losses: workspace.Losses{Commits: 1, Head: "9fceb02"}}
	add("lossesText", "missing, with commits", lossesText("/w", &missing))
	add("commitsText", "unknown", commitsText(id, "ada", unknown))
	add("commitsText", "", commitsText(id, "ada", workspace.Losses{Commits: 2}))
	add("commitsText", "repositories", commitsText(id, "ada", workspace.Losses{Repositories: []string{"a", hostile}}))
	add("noCommitText", "", noCommitText(hostile))
	add("dropNotConfirmedText", "", dropNotConfirmedText())
	add("lockedText", "", lockedText("/home/hugo/"+hostile))
	add("dropChangedText", "", dropChangedText(id, "ada", &coordinator.DropChangedError{Dir: hostile}))
	add("mountedText", "", mountedText(hostile, &workspace.MountError{At: "/w/" + hostile}))
	add("removedText", "", removedText(hostile))
	add("mergedWhoText", "", mergedWhoText(hostile))
	add("textInTrash", "", textInTrash)
	add("textRecordedElsewhere", "", textRecordedElsewhere)
	add("errorText", "in use", errorText(&workspace.BusyError{Root: "/w"}))
	add("errorText", "", errorText(errors.New(hostile)))
	lost.Locked = true
	add("staysText", "", staysText(lost))
	at := func(dir string) workspace.FoundWorktree { return workspace.FoundWorktree{Session: id, Dir: dir} }
	add("worktreesText", "none", worktreesText(nil))
	add("worktreesText", "", worktreesText([]*cleanedWorktree{
		{FoundWorktree: at(hostile)}, {FoundWorktree: at("/w/s/eve"), losses: workspace.Losses{Files: 2}}, {FoundWorktree: at("/w/s/ada"), member: "ada", losses: lost},
		{FoundWorktree: at("/w/s/bea"), member: "bea", stays: textInTrash},
	}))
	return texts
}
