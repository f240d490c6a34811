package app

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/home"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/hub"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/schemas"
)

// appTexts renders each text of the package with sample values.
func appTexts() []apptest.Text {
	at := time.Date(2025, 11, 27, 10, 30, 0, 0, time.UTC)
	ago := func(d time.Duration) time.Time { return at.Add(-d) }
	since := time.Date(2025, 11, 27, 10, 30, 0, 0, time.Local)
	alice := catalog.Session{ID: apptest.AliceID, TeamID: "review", Row: projection.Row{
		Title: "Write me a calculator", Preview: "Write me a calculator", MessageCount: 15,
		UpdatedAt: ago(2 * time.Hour),
	}}
	bob := catalog.Session{
		ID:     apptest.BobID,
		TeamID: apptest.Hostile,
		Row: projection.Row{
			Title:        apptest.Hostile,
			Preview:      apptest.Hostile,
			MessageCount: 1,
			UpdatedAt:    ago(3 * 24 * time.Hour),
		},
	}
	damaged, newer := alice, alice
	damaged.Damaged, newer.Newer = "line 3 is "+apptest.Hostile, "2"
	locked := &journal.LockedError{
		Path:   filepath.Join("sessions", "review", apptest.AliceID+".jsonl"),
		Holder: journal.Holder{PID: 4711, Host: "desk", StartedAt: since},
	}
	lockedBy := &journal.LockedError{Path: locked.Path}
	lockedByEnemy := &journal.LockedError{
		Path:   locked.Path,
		Holder: journal.Holder{PID: 4711, Host: apptest.Hostile, StartedAt: since},
	}
	corrupt := &journal.CorruptError{
		Path:   "/home/hugo/.agent-chatter/sessions/review/" + apptest.AliceID + ".jsonl",
		Line:   7,
		Offset: 4096,
		Reason: "checksum mismatch",
	}
	archived := &journal.CorruptError{
		Path:   "/home/hugo/.agent-chatter/sessions/review/archive/" + apptest.AliceID + ".jsonl.zst",
		Line:   7,
		Offset: 4096,
		Reason: "checksum mismatch",
	}
	longLine := &journal.CorruptError{
		Path:    corrupt.Path,
		Line:    7,
		Offset:  4096,
		Reason:  "it has 70000000 bytes, and the limit is 67108864",
		TooLong: 70000000,
	}
	tooLong := &journal.TooLongError{Type: "message.appended", Bytes: 70000000, Limit: journal.DefaultMaxLine}
	mismatch := &store.TeamMismatchError{SessionID: apptest.AliceID, Want: "review", Got: apptest.Hostile}
	ambiguous := &catalog.AmbiguousError{Name: "01JD", Candidates: []catalog.Session{alice, bob}}
	many := &catalog.AmbiguousError{Name: apptest.Hostile, Candidates: slices.Repeat([]catalog.Session{alice}, 12)}
	noTeam := &team.NotFoundError{Name: apptest.Hostile, Looked: []string{"/a/team.json", "/b/" + apptest.Hostile}}
	denied := &fs.PathError{Op: "open", Path: "/a/sessions/b", Err: syscall.EACCES}
	full := &fs.PathError{Op: "write", Path: "/a/sessions/b", Err: syscall.ENOSPC}
	readOnly := &fs.PathError{Op: "open", Path: "/elsewhere/b", Err: syscall.EROFS}
	unread := alice
	unread.ReadErr, unread.Damaged = denied, denied.Error()
	headless := damaged
	headless.MissingHeader = true
	zst := damaged
	zst.Archived = true
	file := &FileError{"/the folder/" + apptest.Hostile + ".jsonl", corrupt}
	const dir, path = "/home/" + apptest.Hostile, "/home/" + apptest.Hostile + "/config.json"
	var texts []apptest.Text
	add := func(function, sample string, shown any) {
		texts = append(texts, apptest.Text{Function: function, Sample: sample, Shown: shown})
	}
	found := func(function, sample string, f Finding) {
		add(function, sample, fmt.Sprintf("%s: %s\n%s", f.State, f.What, (&App{}).Resolve(f).Help))
	}
	add("VersionText", "", VersionText(Build{Version: unversioned}))
	add("VersionText", "a commit", VersionText(Build{
		Version: "1.2.0", Commit: "155889ee0f1d2c3b4a59687766554433221100ff", Date: "2026-11-29T21:23:00Z",
	}))
	explained := func(sample string, err error) { add("explain", sample, Explain(fmt.Errorf("resume: %w", err))) }
	explained("an ambiguous name", ambiguous)
	explained("no session", &catalog.NotFoundError{Name: apptest.Hostile})
	explained("another team", mismatch)
	explained("a newer version", &store.UpgradeError{SessionID: apptest.AliceID, Version: "2"})
	explained("a writer", locked)
	explained("damage", corrupt)
	explained("no configuration", noTeam)
	explained("invalid team", &schemas.InvalidError{Schema: schemas.CLIConfig, Problems: []schemas.Problem{
		{Path: "/team", Message: `missing property "members"`},
	}})
	explained("no team", coordinator.ErrNoTeam)
	explained("a long message", tooLong)
	explained("unknown addressees", coordinator.ErrNotDelivered)
	explained("too much is unsaved", &coordinator.HeldError{Limit: 32 << 20, Saves: true})
	explained("too much for memory", &coordinator.HeldError{Limit: 32 << 20})
	explained("no permission", denied)
	explained("a full disk", full)
	explained("a file as large as allowed", &fs.PathError{Op: "write", Path: "/a/sessions/b", Err: syscall.EFBIG})
	explained("anything else", errors.New(apptest.Hostile))
	add("notFoundForTeamText", "", notFoundForTeamText("01ZZZZ", "review"))
	add("nothingForTeamText", "", nothingForTeamText("review"))
	add("mismatchText", "", mismatchText(mismatch))
	add("missingText", "one", MissingText([]projection.MemberRef{{ID: "1", Name: "ada"}}))
	add("missingText",
		"two", MissingText([]projection.MemberRef{{ID: "1", Name: "ada"}, {ID: "2", Name: apptest.Hostile}}))
	add("saveFailedText", "", SaveFailedText(full))
	add("resumedText", "", ResumedText(apptest.AliceID, 12))
	add("resumedText", "one message", ResumedText(apptest.AliceID, 1))
	add("skippedText", "", skippedText(damaged))
	add("unreadableText", "", unreadableText("/a/"+apptest.Hostile, denied))
	add("skippedText", "unreadable", skippedText(unread))
	add("incompatibleText", "", incompatibleText(newer))
	add("ambiguousText", "two", ambiguousText(ambiguous))
	add("ambiguousText", "twelve", ambiguousText(many))
	claim := hub.Claim{Host: "desk", Home: "/home/hugo/.agent-chatter", Time: since}
	enemy := hub.Claim{Host: apptest.Hostile, Home: apptest.Hostile, Time: since}
	add("damagedHubText", "", damagedHubText(&hub.GapError{Session: hub.Session{ID: apptest.AliceID},
		After: journal.Position{Seq: 3}, Next: journal.Position{Seq: 5}}, apptest.AliceID))
	add("missingHereText", "", missingHereText(&hub.BehindError{Session: hub.Session{ID: apptest.AliceID},
		Hub: journal.Position{Seq: 5}, Local: journal.Position{Seq: 3}}))
	of := hub.Session{ID: apptest.AliceID}
	add("sealedText", "", sealedText(&hub.SealedError{Session: of}))
	add("sealedText", "after events", sealedText(&hub.SealedError{Session: of, After: 7, TakeOver: true}))
	add("newerText", "", newerText(&hub.NewerError{Session: of}))
	add("newerText", "after events", newerText(&hub.NewerError{Session: of, After: 7, TakeOver: true}))
	add("claimedText", "", claimedText(&hub.ClaimedError{Session: hub.Session{ID: apptest.AliceID}, Claim: claim}))
	add("holderText", "", holderText(claim))
	add("holderText", "hostile", holderText(enemy))
	add("lockedText", "known holder", lockedText(locked, nil))
	add("lockedText", "unknown holder", lockedText(lockedBy, nil))
	add("lockedText", "hostile", lockedText(lockedByEnemy, nil))
	add("corruptText", "", corruptText(corrupt, nil))
	add("corruptText", "archived", corruptText(archived, nil))
	add("missingFileText", "", MissingFileText("journal", apptest.Hostile))
	add("archiveHelp", "", archiveHelp(apptest.AliceID))
	add("archivedText", "", ArchivedText(apptest.AliceID))
	add("repairHelp", "", Message{Help: []Help{repairHelp(apptest.AliceID)}})
	add("damageHelp", "", DamageHelp(damaged, nil))
	add("damageHelp", "archived", DamageHelp(zst, nil))
	add("damageHelp", "no session", DamageHelp(headless, nil))
	add("damageHelp", "a file", DamageHelp(damaged, &FileError{path: "/share/a b.jsonl"}))
	add("damagedCountText", "one", DamagedCountText([]Message{DamageHelp(damaged, nil)}, 3))
	add("damagedCountText", "two", DamagedCountText([]Message{DamageHelp(damaged, nil), archiveHelp(apptest.BobID)}, 3))
	add("notInTrashText", "nothing", notInTrashText(apptest.Hostile, nil))
	add("notInTrashText", "one", notInTrashText(apptest.Hostile, []string{apptest.AliceID}))
	add("notInTrashText", "ten", notInTrashText(apptest.Hostile, slices.Repeat([]string{apptest.AliceID}, 10)))
	add("notInTrashText", "twelve", notInTrashText(apptest.Hostile, slices.Repeat([]string{apptest.AliceID}, 12)))
	explained("nothing is the latest", &catalog.NotFoundError{Name: catalog.LatestName})
	add("corruptText", "a line over the limit", corruptText(longLine, nil))
	add("missingHeaderText", "", missingHeaderText(&catalog.MissingHeaderError{
		ID: apptest.AliceID, Reason: "it does not begin with session.created"}, nil))
	add("HeaderLostText", "", HeaderLostText(damaged))
	add("missingHeaderHelp", "", missingHeaderHelp(apptest.AliceID))
	explained("a journal that was named by its path", file)
	add("lockedText", "a file", lockedText(locked, file))
	add("missingHeaderText", "a file", missingHeaderText(&catalog.MissingHeaderError{
		ID: "k", Reason: "it does not begin with session.created"}, file))
	add("missingHeaderText", "empty", missingHeaderText(&catalog.MissingHeaderError{
		ID: apptest.AliceID, Reason: "there is no event in it", Empty: true}, nil))
	add("tooLongText", "", tooLongText(tooLong))
	add("unfinishedText", "", UnfinishedText(projection.Entry{Partial: true}))
	add(
		"unfinishedText",
		"that was cut",
		UnfinishedText(
			projection.Entry{Partial: true, ContentBytes: 70000000, Message: projection.Message{Content: "It is"}},
		),
	)
	add("allowText", "", AllowText(100_000))
	add("allowText", "a step", AllowText(1<<20))
	add("allowText", "more than a step", AllowText(1<<20+1))
	add("allowText", "the most", AllowText(home.MaxLineLimit))
	add("allowText", "more than can be", AllowText(2<<30))
	for _, err := range []error{denied, readOnly, full, errors.New("else")} {
		add("remedy", err.Error(), strings.TrimPrefix(remedyAnywhere(err), "\n"))
	}
	for _, err := range []error{journal.ErrNotFound, journal.ErrReplaced, corrupt} {
		add("followEndedText", apptest.FirstLine(err.Error()), FollowEndedText(apptest.AliceID, err))
	}
	for _, err := range []error{syscall.EMFILE, syscall.ENOSPC, errors.New(apptest.Hostile)} {
		add("notNotifiedText", tty.SafeLine(err.Error()), notNotifiedText(err))
	}
	add("sentence", "", Sentence(errors.New("several\nlines")))
	add("sentence", "nothing", Sentence(errors.New("")))
	add("sentence", "a file", Sentence(errors.New("team.json: it is empty")))
	add("sentence", "another alphabet", Sentence(errors.New("école: it is empty")))
	add("secretsReplacedText", "one", SecretsReplacedText([]string{"github-token"}, 1))
	add("secretsReplacedText", "three", SecretsReplacedText([]string{apptest.Hostile, "github-token"}, 3))
	explained("several people", &coordinator.WhoSpeaksError{Humans: []string{"mia", apptest.Hostile}})
	add("whoSpeaksText", "", whoSpeaksText(&coordinator.WhoSpeaksError{Humans: []string{apptest.Hostile}}))
	add("count", "none", Count(0, "message"))
	add("count", "one", Count(1, "message"))
	add("count", "two", Count(2, "message"))
	explained("standard output on a full disk", &OutputError{fmt.Errorf("standard output: %w", full)})
	explained("a configuration with one thing wrong",
		&home.ConfigError{Path: "/a/config.json", Problems: []string{"there is no setting " + apptest.Hostile}})
	explained(
		"a configuration with two things wrong",
		&home.ConfigError{
			Path:     "/a/config.json",
			Problems: []string{"there is no setting " + apptest.Hostile, "retention.keep is a whole number, not a text"},
		},
	)
	add("archiveElsewhereText", "", archiveElsewhereText("/a/"+apptest.Hostile))
	add("archiveElsewhereText", "in the trash", archiveElsewhereText("/a/trash/"+apptest.AliceID+".jsonl.zst"))
	add("noDirectoryText", "", noDirectoryText("/a/"+apptest.Hostile))
	add("noLogDirectoryText", "", noLogDirectoryText("/a/"+apptest.Hostile))
	found("NetworkText", "", NetworkText(dir, "NFS"))
	explained("no agent", fmt.Errorf("%w: %q", team.ErrAgentNotFound, apptest.Hostile))
	add("notFoundText", "", notFoundText(&catalog.NotFoundError{Name: apptest.Hostile}))
	add("notFoundText", "an event", notFoundText(&catalog.NotFoundError{Name: apptest.AliceID + "#9"}))
	add("upgradeText", "", upgradeText(&store.UpgradeError{SessionID: apptest.AliceID, Version: "2"}))
	add("noTeamText", "", noTeamText(noTeam))
	add("noTeamText", "directory", noTeamText(&team.NotFoundError{Name: "b", Directory: "/a/" + apptest.Hostile}))
	add("insideText", "", insideText("/a/"+apptest.Hostile))
	add("othersText", "mode", othersText(&home.OthersError{
		Home: "/a/" + apptest.Hostile, Path: "/a/" + apptest.Hostile + "/team-config", Mode: 0o777, Owner: -1,
	}))
	for _, n := range []uint64{0, 1, 1023, 1024, 1536, 1 << 20, 5 << 40, math.MaxUint64} {
		add("Bytes", fmt.Sprint(n), Bytes(n))
	}
	add("NotAllReadText", "", NotAllReadText())
	add("nothingToResumeText", "", nothingToResumeText())
	add("TruncatedText", "", TruncatedText(alice))
	add("InvalidEventsText", "", InvalidEventsText(apptest.AliceID, 2, 12))
	return texts
}

func TestAppTexts(t *testing.T) { apptest.CheckTexts(t, appTexts()) }

// appPromised is what other programs and people rely on, letter by letter.
var appPromised = []apptest.Promise{
	{Behaviour: "a session of a team is not found", Got: notFoundForTeamText("X", "Y"),
		Want: "Session 'X' not found for team 'Y'.\nUse --resume without ID to restore the latest session, or start " +
			"a new session."},
	{Behaviour: "a session belongs to another team", Got: mismatchText(&store.TeamMismatchError{Want: "X", Got: "Y"}),
		Want: "Session teamId mismatch: snapshot is for team 'X', but current team is 'Y'.\nPlease use the correct " +
			"team configuration."},
	{Behaviour: "a restore needs a team", Got: Explain(coordinator.ErrNoTeam).Text,
		Want: "Team must be set before restoring session"},
	{Behaviour: "a team has no sessions", Got: nothingForTeamText("X"),
		Want: "No previous sessions found for team 'X'"},
	{Behaviour: "members are missing", Got: MissingText([]projection.MemberRef{{Name: "ada"}, {Name: "bea"}}),
		Want: "⚠️  Some speakers in history are not in current team: ada, bea\n   Their messages will be displayed " +
			"with original names."},
	{Behaviour: "a save fails", Got: SaveFailedText(errors.New("disk full")),
		Want: "❌  Failed to save session: disk full"},
	{
		Behaviour: "a session cannot be loaded",
		Got:       apptest.FirstLine(skippedText(catalog.Session{ID: "X", Damaged: "reason"}).Text),
		Want:      "⚠️  Failed to load session X: reason",
	},
	{
		Behaviour: "a session is of a newer format",
		Got:       apptest.FirstLine(incompatibleText(catalog.Session{ID: "X", Row: projection.Row{Newer: "2.0"}})),
		Want:      "⚠️  Session X has incompatible schema version: 2.0",
	},
	{Behaviour: "there is nothing to resume", Got: nothingToResumeText().Text,
		Want: "No session to resume"},
	{Behaviour: "a session is resumed", Got: ResumedText("session-m5abc-xyz", 12),
		Want: "✓ Resumed session: session-m5abc-xyz (12 messages loaded)"},
}

func TestAppTextsOthersRelyOn(t *testing.T) { apptest.CheckPromises(t, appPromised) }
