package transfer

import (
	"errors"
	"slices"
	"testing"

	"filippo.io/age"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/projection/catalog/sessioncopy"
	"github.com/agent-chatter/agent-chatter/projection/interchange"
)

// transferTexts renders each text of the package with sample values.
func transferTexts() []apptest.Text {
	const path, id = "/a/" + apptest.Hostile, "01KAHV6T3R8Q4Y2M0N7C5B0001"
	return []apptest.Text{
		{Function: "redactedText", Shown: redactedText([]string{apptest.Hostile, "github-token"})},
		{Function: "notExportedText", Sample: "some", Shown: notExportedText(1, 3)},
		{Function: "notExportedText", Sample: "all", Shown: notExportedText(3, 3)},
		{Function: "notImportedText", Shown: notImportedText(1, 2)},
		{Function: "teamIgnoredText", Shown: teamIgnoredText(path)},
		{Function: "WrittenText", Shown: WrittenText(path, "md")},
		{Function: "WrittenText", Sample: "a snapshot", Shown: WrittenText(path, "snapshot")},
		{Function: "existsText", Shown: existsText(path, id)},
		{Function: "notRegularText", Shown: notRegularText(path)},
		{Function: "noPipeText", Shown: noPipeText(path)},
		{Function: "ExportText", Shown: ExportText(path)},
		{Function: "cutText", Shown: cutText(path)},
		{Function: "unknownLinesText", Shown: unknownLinesText(path, &interchange.UnknownLinesError{Lines: 2})},
		{Function: "TeamFileText", Shown: TeamFileText(path)},
		{Function: "UnknownFormatText", Shown: UnknownFormatText(path)},
		{Function: "skippedText", Sample: "all", Shown: skippedText(skippedFiles{unknown: 1, subagents: 2, empty: 3, unread: 4, lines: 50})},
		{Function: "skippedText", Sample: "one", Shown: skippedText(skippedFiles{subagents: 1})},
		{Function: "divergedText", Sample: "other events", Shown: divergedText(path, errors.New(apptest.Hostile))},
		{Function: "divergedText", Sample: "left out", Shown: divergedText(path, &sessioncopy.DivergedError{
			ID: id, Message: 3, LeftOut: 2, FirstLeftOut: 6,
		})},
		{
			Function: "invalidText", Sample: "bundle",
			Shown: (&eventImport{path: path, format: interchange.BundleFormat}).invalidText(id, errors.New(apptest.Hostile)),
		},
		{
			Function: "invalidText", Sample: "journal",
			Shown: (&eventImport{path: path, format: interchange.JournalFormat}).invalidText(id, errors.New(apptest.Hostile)),
		},
		{Function: "emptyPartText", Shown: emptyPartText(id)},
		{Function: "notImportableText", Shown: notImportableText(id, 2, 5)},
		{Function: "tooLargeText", Shown: tooLargeText(path, &interchange.LimitError{Part: "the conversation", Limit: 64 << 20, Unit: "bytes"})},
		{Function: "longSnapshotText", Shown: longSnapshotText(path, 256<<20)},
		{Function: "missingText", Shown: missingText(path)},
		{Function: "noSessionsText", Shown: noSessionsText(path)},
		{Function: "notOpenedText", Shown: notOpenedText(path, &age.NoIdentityMatchError{})},
		{Function: "notOpenedText", Sample: "not of age", Shown: notOpenedText(path, errors.New(apptest.Hostile))},
		{Function: "alteredText", Shown: alteredText(path)},
		{Function: "fileLeftOutText", Shown: fileLeftOutText(apptest.Hostile, id)},
	}
}

func TestTransferTexts(t *testing.T) {
	apptest.CheckTexts(t, slices.Concat(transferTexts(), sourceTexts()))
}
