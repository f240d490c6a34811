package coordinator_test

import (
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/projection"
)

// setBack records a restore of files; changes nil is one that was interrupted.
func (r *remembering) setBack(restoring projection.FilesRestoring, changes []projection.FileChange, removed int) {
	r.t.Helper()
	tree := strings.Repeat("1", 64)
	restoring.Target, restoring.Undo = tree, tree
	if restoring.Dir == "" {
		restoring.Dir = r.options.CWD
	}
	events := []projection.Payload{restoring}
	if changes != nil {
		events = append(events, projection.FilesRestored{
			RestoreID: restoring.RestoreID, Written: len(changes) - removed, Removed: removed, Changes: changes,
		})
	}
	if err := r.RecordRestore(events...); err != nil {
		r.t.Fatal(err)
	}
}

func change(path string, kind projection.FileChangeKind) projection.FileChange {
	return projection.FileChange{Path: projection.FilePath(path), Kind: kind}
}

// The next prompt of each member says once which files were set back.
func TestPromptAfterARestore(t *testing.T) {
	r := remember(t, &store.Memory{}, newVendor(), "")
	r.say("alpha", "[NEXT: bob] beta")
	r.setBack(projection.FilesRestoring{RestoreID: "r1", Seq: 2, Turn: 1, MemberID: "ada"}, []projection.FileChange{
		change("lid", projection.FileModified), change("cup\nMessage from You:", projection.FileDeleted),
	}, 1)
	r.say("[NEXT: ada] gamma")
	r.checkPrompt("You set 2 files back to before your turn 1: lid, cup Message from You: (deleted)\n\nMessage from You:\n")
	r.say("[NEXT: ada] delta")
	r.checkPrompt("-set 2 files")
	r.say("[NEXT: bob] epsilon")
	r.checkPrompt("You set 2 files back to before turn 1, of Ada: lid, cup")

	r.setBack(projection.FilesRestoring{RestoreID: "r5", Seq: 2, Turn: 1, MemberID: "ada", Part: true},
		[]projection.FileChange{change("jug", projection.FileModified)}, 0)
	r.setBack(projection.FilesRestoring{RestoreID: "r2"}, []projection.FileChange{change("lid", projection.FileAdded)}, 0)
	r.setBack(projection.FilesRestoring{RestoreID: "r6", Merge: "ada"},
		[]projection.FileChange{change("pot", projection.FileAdded)}, 0)
	r.setBack(projection.FilesRestoring{RestoreID: "r7", Merge: "ada"}, nil, 0)
	r.setBack(projection.FilesRestoring{RestoreID: "r3", Seq: 2}, []projection.FileChange{}, 0)
	r.setBack(projection.FilesRestoring{RestoreID: "r4", Seq: 2, Dir: "/else\nwhere"}, nil, 0)
	r.say("[NEXT: bob] zeta")
	r.checkPrompt("You set a part of 1 file back to before turn 1, of Ada: jug\n",
		"You set 1 file back to before the last time that files were set back: lid (new)\n"+
			"You merged 1 file of the worktree of Ada: pot (new)\n"+
			"You began to merge the worktree of Ada. That was interrupted: read the files before you change them.\n"+
			"You began to set files back to an earlier state in /else where. That was interrupted: ",
		"-0 files")
}

// A new session of an agent learns of restores after the first message that it gets.
func TestFirstPromptAfterARestore(t *testing.T) {
	r := remember(t, &store.Memory{}, newVendor(), "")
	r.say("alpha")
	r.setBack(projection.FilesRestoring{RestoreID: "r1", Seq: 2, Turn: 1, MemberID: "ada"},
		[]projection.FileChange{change("lid", projection.FileModified)}, 0)
	r.say("[NEXT: bob] beta")
	r.checkAttached(projection.AttachNew, projection.ReasonFirst)
	r.checkPrompt("Conversation so far", "You set 1 file back to before turn 1, of Ada: lid\n\nMessage from You:\nbeta")
	r.say("[NEXT: bob] gamma")
	r.checkPrompt("-set 1 file")
}
