package coordinator

import (
	"context"
	"fmt"
	"slices"

	"github.com/agent-chatter/agent-chatter/coordinator/workspace"
	"github.com/agent-chatter/agent-chatter/coordinator/workspace/objects"
)

// FileHunk is a part of what a turn changed in a text file.
type FileHunk struct {
	Before, After objects.Hash // of the contents before and after the turn
	Number        int          // of the hunk among workspace.Hunks, from 0
}

// planHunk limits the plan, which is that of one file, to the hunk: it sets the file to the present content with the
// hunk reverted. A file that the plan keeps is kept, as well as one whose lines changed since.
func (p *PreparedRestore) planHunk(ctx context.Context) error {
	step, why := p.hunkStep()
	if why == "" && step.Path == "" {
		return nil // as it was then
	}
	kept := p.Plan.Kept
	p.Plan = workspace.Plan{Kept: kept}
	if why != "" {
		p.Plan.Kept = append(kept, workspace.Kept{Path: step.Path, Why: why})
		return nil
	}
	content, err := p.reverted(step.Present)
	if err != nil {
		return err
	}
	if content == nil {
		p.Plan.Kept = append(kept, workspace.Kept{Path: step.Path, Why: "these lines changed after the turn"})
		return nil
	}
	tree, entry, err := p.r.Workspace.Edit(ctx, newID(), p.present.Tree, step.Path, content)
	if err != nil {
		return err
	}
	p.target, step.Target = tree, entry
	p.Plan.Writes = []workspace.Step{step}
	return nil
}

// hunkStep returns the step of the plan that the hunk is a part of, or why there is none; neither if the file is as it
// was then, or kept.
func (p *PreparedRestore) hunkStep() (step workspace.Step, why string) {
	steps := slices.Concat(p.Plan.Writes, p.Plan.Removals)
	if len(steps) == 0 {
		return step, ""
	}
	switch step = steps[0]; {
	case step.Present.Type() != objects.ModeFile || step.Target.Type() != objects.ModeFile:
		why = "it was no file then, or is none now, so that no part of it can be set back"
	case step.Present.Size > workspace.MaxDiff:
		why = fmt.Sprintf("it is too large to set back a part of it (%d bytes)", step.Present.Size)
	}
	return step, why
}

// reverted returns the present content of a file with the hunk reverted; nil: its lines changed since.
func (p *PreparedRestore) reverted(present objects.Entry) ([]byte, error) {
	store, h := p.r.Workspace.Store(), p.r.Hunk
	var texts [3][]byte
	for i, hash := range []objects.Hash{h.Before, h.After, present.Hash} {
		text, err := store.Read(hash)
		if err != nil {
			return nil, err
		}
		texts[i] = text
	}
	hunks := workspace.Hunks(texts[0], texts[1])
	if h.Number < 0 || h.Number >= len(hunks) {
		return nil, fmt.Errorf("the change has no part %d", h.Number+1)
	}
	content, err := workspace.Revert(hunks[h.Number], texts[0], texts[1], texts[2])
	if err != nil {
		return nil, nil
	}
	if content == nil {
		content = []byte{}
	}
	return content, nil
}
