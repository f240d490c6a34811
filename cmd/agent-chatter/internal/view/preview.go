package view

import "github.com/agent-chatter/agent-chatter/projection/conversation"

// A preview shows what a turn of a panel does, before it is shown whole at its end.
type preview struct {
	turnID string
	of     Transcript
	blocks []Block // that are final in it, the newest
}

// maxPreview is how many final blocks are kept. Each takes a line at least.
const maxPreview = 200

// WholePanels makes a turn that was started with others at the same time be shown when it has ended, whole.
func (t *Transcript) WholePanels() { t.sequence.Panels = true }

// Preview returns the newest blocks of a turn of a panel that runs, as they are now: at least so many lines in a style,
// if it has them.
func (t *Transcript) Preview(turnID string, s Style, lines int) []Block {
	if t.preview == nil || t.preview.turnID != turnID {
		t.preview = &preview{turnID: turnID, of: Transcript{Members: t.Members, text: openText{last: t.text.last}}}
		t.preview.add(t.sequence.Of(turnID))
	}
	p := t.preview
	p.keep(p.of.Release(s, lines)) // so that the work for a long text is bounded
	all := append(p.blocks[:len(p.blocks):len(p.blocks)], p.of.Held()...)
	first := len(all)
	for shown := 0; first > 0 && shown < lines; shown += len(Render(all[first], s)) {
		first--
	}
	return all[first:]
}

// add adds what the turn did. A nil preview is of no turn.
func (p *preview) add(deltas []conversation.Delta) {
	if p == nil {
		return
	}
	for _, d := range deltas {
		if turn := conversation.TurnOf(d); turn != nil && turn.ID == p.turnID {
			p.keep(p.of.show([]conversation.Delta{d}))
		}
	}
}

func (p *preview) keep(blocks []Block) {
	p.blocks = append(p.blocks, blocks...)
	if len(p.blocks) > 2*maxPreview {
		p.blocks = append([]Block(nil), p.blocks[len(p.blocks)-maxPreview:]...)
	}
}
