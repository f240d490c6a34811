package filechanges

import (
	"slices"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/projection"
)

func TestTexts(t *testing.T) {
	const id, hostile = apptest.AliceID, apptest.Hostile
	var texts []apptest.Text
	add := func(function, sample string, shown any) {
		texts = append(texts, apptest.Text{Function: function, Sample: sample, Shown: shown})
	}
	plus, minus, none := 40, 7, 0
	counted := projection.FileChange{Path: "a", Kind: projection.FileModified, Plus: &plus, Minus: &minus}
	add("linesText", "", linesText([]projection.FileChange{counted, counted, {Path: "b"}}))
	add("linesText", "of an empty file", linesText([]projection.FileChange{{Path: "a", Plus: &none, Minus: &none}}))
	add("linesText", "not counted", linesText([]projection.FileChange{{Path: "a"}}))
	skipped := []projection.SkippedFile{{Path: "data/dump.bin", Why: "2.1 GB, over 32 MiB"}, {Path: hostile, Why: hostile}}
	add("skippedText", "nothing", skippedText(projection.FilesCaptured{}))
	add("skippedText", "", skippedText(projection.FilesCaptured{Skipped: skipped, SkippedMore: 3}))
	add("pathText", "", pathText("not \xff UTF-8 "+hostile))
	add("nothingText", "", nothingText(id))
	add("noMatchText", "", noMatchText(id))
	add("noMemberText", "", noMemberText(id, hostile, nil))
	add("noMemberText", "with others", noMemberText(id, "eve", []string{"ada", hostile}))
	add("missingText", "", missingText("the content of "+hostile, "/home/files/"+hostile, "abab", ""))
	add("missingText", "dropped", missingText("the files of /w", "/home/files/abab", "abab", "over "+hostile))
	add("noTreeText", "", noTreeText(id, hostile))
	add("noFileText", "", noFileText(hostile, hostile))
	add("notBlamedText", "", notBlamedText(hostile, id))
	add("tooLargeText", "", tooLargeText(hostile))
	add("notCapturedText", "", notCapturedText(hostile, hostile))
	add("textInGit", "", notCapturedText(hostile, textInGit))
	add("binaryText", "", binaryText(hostile))
	add("pointText", "", pointText(hostile))
	add("severalText", "", severalText([]string{"/home/hugo/a", hostile}))
	add("leftOutText", "", leftOutText(hostile, hostile))
	add("emptyPatchText", "", emptyPatchText(id))
	texts = slices.Concat(texts, restoreTexts(), readerTexts(), worktreeTexts())
	apptest.CheckTexts(t, texts)
}
