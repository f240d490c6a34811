package filechanges

import "github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"

// readerTexts renders each text of the viewers with sample values.
func readerTexts() (texts []apptest.Text) {
	add := func(function, sample string, shown any) {
		texts = append(texts, apptest.Text{Function: function, Sample: sample, Shown: shown})
	}
	const hostile = apptest.Hostile
	add("elsewhereText", "", elsewhereText(apptest.AliceID))
	add("notChangedText", "", notChangedText(hostile))
	add("notByTurnText", "", notByTurnText(textBetween))
	add("sizesText", "", sizesText(1, 3<<20))
	add("largeFileText", "", largeFileText(0, 3<<20))
	add("binaryFileText", "", binaryFileText(8, 0))
	add("modeText", "", modeText(0o100644, 0o100755))
	add("linkText", "before", linkText(true, hostile))
	add("linkText", "after", linkText(false, hostile))
	add("skippedSideText", "before", skippedSideText(true, hostile))
	add("skippedSideText", "after", skippedSideText(false, "over 32 MiB"))
	add("moreLinesText", "", moreLinesText(maxShownLines))
	return texts
}
