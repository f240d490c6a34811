package sessions

import (
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/conversation"
)

// diffTexts renders the texts of differences with sample values.
func diffTexts() []apptest.Text {
	var texts []apptest.Text
	add := func(function, sample string, shown any) {
		texts = append(texts, apptest.Text{Function: function, Sample: sample, Shown: shown})
	}
	common := projection.Divergence{A: 12, B: 10, Messages: 5}
	add("divergenceText", "", divergenceText(apptest.AliceID, apptest.BobID, common))
	add("divergenceText", "nothing in common", divergenceText(apptest.AliceID, apptest.BobID, projection.Divergence{}))
	add("FoldedText", "", FoldedText(common))
	add("FoldedText", "nothing in common", FoldedText(projection.Divergence{}))
	add("countText", "", countText(2, 3))
	add("onlyText", "an unfinished reply", onlyText("<", apptest.AliceID, 2, 1))
	add("onlyText", "only unfinished replies", onlyText(">", apptest.AliceID, 0, 2))
	add("onlyText", "", onlyText("<", apptest.AliceID, 3, 0))
	add("onlyText", "no messages", onlyText(">", apptest.BobID, 0, 0))
	replies := comparedReplies()
	add("headText", "", headText(replies))
	add("bothText", "", bothText(replies))
	add("repliesText", "", repliesText(replies))
	replies[1].turn.Turn.Panel, replies[1].files = nil, nil
	add("headText", "not of a panel", headText(replies))
	add("noReplyText", "", noReplyText(apptest.Hostile, apptest.AliceID, []projection.Speaker{
		{ID: "ada", Name: apptest.Hostile, Type: projection.TypeAI}, {ID: "mia", Name: "mia", Type: projection.TypeHuman},
	}))
	return texts
}

// comparedReplies returns two replies of a panel, whose turns changed a file.
func comparedReplies() (replies [2]memberReply) {
	one, two := 1, 2
	for i, id := range []string{"ada", "bea"} {
		by := projection.Speaker{ID: id, Name: id, DisplayName: strings.ToUpper(id[:1]) + apptest.Hostile, Type: projection.TypeAI}
		m := projection.NewMessage("m", time.Unix(0, 0), by, "I am "+id+".", nil).Message
		replies[i].turn = &conversation.Item{
			Kind: projection.RowTurn, First: uint64(3 + i), Speaker: by, Message: &m, Said: uint64(9 + i), Text: m.Content,
			Turn: &conversation.Turn{ID: id, Panel: &projection.Panel{ID: "p", Index: i + 1, Of: 2}},
		}
		replies[i].files = []projection.FilesChanged{{TurnID: id, Modified: 1, Added: 1, Changes: []projection.FileChange{
			{Path: apptest.Hostile, Kind: projection.FileModified, Plus: &one, Minus: &two},
			{Path: projection.FilePath(id), Kind: projection.FileAdded},
		}}}
	}
	return replies
}
