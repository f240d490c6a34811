package main

import (
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/process"
	"github.com/agent-chatter/agent-chatter/coordinator/hint"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/catalog/sessioncopy"
	"github.com/agent-chatter/agent-chatter/projection/marker"
	"github.com/agent-chatter/agent-chatter/projection/search"
)

var update = flag.Bool("update", false, "write the golden texts anew")

// text is what a function of the files *messages.go returns for sample values.
type text struct{ function, sample, shown string }

const (
	aliceID = "01JDQ3W7ZK8M5N6P7Q8R9S0T1A"
	bobID   = "01JDQ3W7ZK8M5N6P7Q8R9S0T1B"
)

// hostile is what somebody might call a thing to do harm.
const hostile = "a\x1b[31m\nb\u202ec"

// sampleTexts calls every function of the files *messages.go.
func sampleTexts() []text {
	at := time.Date(2025, 11, 27, 10, 30, 0, 0, time.UTC)
	ago := func(d time.Duration) time.Time { return at.Add(-d) }
	since := time.Date(2025, 11, 27, 10, 30, 0, 0, time.Local) // people read their own time
	alice := catalog.Session{ID: aliceID, TeamID: "review", Row: projection.Row{
		Title: "Write me a calculator", Preview: "Write me a calculator", MessageCount: 15, UpdatedAt: ago(2 * time.Hour),
	}}
	bob := catalog.Session{ID: bobID, TeamID: hostile, Row: projection.Row{Title: hostile, Preview: hostile, MessageCount: 1, UpdatedAt: ago(3 * 24 * time.Hour)}}
	damaged, newer := alice, alice
	damaged.Damaged, newer.Newer = "line 3 is "+hostile, "2"
	review := &team.Team{ID: "review", Name: "review", DisplayName: "Review", Members: []team.Member{{Name: "hugo"}, {Name: "ada"}, {Name: hostile}}}

	locked := &journal.LockedError{Path: filepath.Join("sessions", "review", aliceID+".jsonl"), Holder: journal.Holder{PID: 4711, Host: "desk", StartedAt: since}}
	lockedBy := &journal.LockedError{Path: locked.Path}
	lockedByEnemy := &journal.LockedError{Path: locked.Path, Holder: journal.Holder{PID: 4711, Host: hostile, StartedAt: since}}
	corrupt := &journal.CorruptError{Path: "/home/hugo/.agent-chatter/sessions/review/" + aliceID + ".jsonl", Line: 7, Offset: 4096, Reason: "the sum does not match"}
	archived := &journal.CorruptError{Path: "/home/hugo/.agent-chatter/sessions/review/archive/" + aliceID + ".jsonl.zst", Line: 7, Offset: 4096, Reason: "the sum does not match"}
	longLine := &journal.CorruptError{Path: corrupt.Path, Line: 7, Offset: 4096, Reason: "it has 70000000 bytes, and the limit is 67108864", TooLong: 70000000}
	tooLong := &journal.TooLongError{Type: "message.appended", Bytes: 70000000, Limit: journal.DefaultMaxLine}
	mismatch := &store.TeamMismatchError{SessionID: aliceID, Want: "review", Got: hostile}
	ambiguous := &catalog.AmbiguousError{Name: "01JD", Candidates: []catalog.Session{alice, bob}}
	many := &catalog.AmbiguousError{Name: hostile, Candidates: slices.Repeat([]catalog.Session{alice}, 12)}
	noTeam := &team.NotFoundError{Name: hostile, Looked: []string{"/a/team.json", "/b/team.json"}}
	denied := &fs.PathError{Op: "open", Path: "/a/b", Err: syscall.EACCES}
	full := &fs.PathError{Op: "write", Path: "/a/b", Err: syscall.ENOSPC}
	readOnly := &fs.PathError{Op: "open", Path: "/a/b", Err: syscall.EROFS}

	var texts []text
	add := func(function, sample, shown string) { texts = append(texts, text{function, sample, shown}) }
	explained := func(sample string, err error) { add("explain", sample, explain(fmt.Errorf("resume: %w", err))) }

	explained("an ambiguous name", ambiguous)
	explained("no session", &catalog.NotFoundError{Name: hostile})
	explained("another team", mismatch)
	explained("a newer version", &store.UpgradeError{SessionID: aliceID, Version: "2"})
	explained("a writer", locked)
	explained("damage", corrupt)
	explained("no configuration", noTeam)
	explained("no team", coordinator.ErrNoTeam)
	explained("a long message", tooLong)
	explained("no permission", denied)
	explained("a full disk", full)
	explained("anything else", errors.New(hostile))
	add("notFoundForTeam", "", notFoundForTeam("01ZZZZ", "review"))
	add("nothingForTeam", "", nothingForTeam("review"))
	add("mismatchText", "", mismatchText(mismatch))
	add("missingText", "one", missingText([]projection.MemberRef{{ID: "1", Name: "ada"}}))
	add("missingText", "two", missingText([]projection.MemberRef{{ID: "1", Name: "ada"}, {ID: "2", Name: hostile}}))
	add("saveFailedText", "", saveFailedText(full))
	add("resumedText", "", resumedText(aliceID, 12))
	add("damagedSkippedText", "", damagedSkippedText(damaged))
	add("unreadText", "", unreadText("/a/"+hostile, denied))
	unread := alice
	unread.ReadErr, unread.Damaged = denied, denied.Error()
	add("damagedSkippedText", "unreadable", damagedSkippedText(unread))
	add("incompatibleText", "", incompatibleText(newer))
	add("ambiguousText", "two", ambiguousText(ambiguous))
	add("ambiguousText", "twelve", ambiguousText(many))
	add("lockedText", "somebody known", lockedText(locked, nil))
	add("lockedText", "somebody unknown", lockedText(lockedBy, nil))
	add("lockedText", "hostile", lockedText(lockedByEnemy, nil))
	add("corruptText", "", corruptText(corrupt, nil))
	add("corruptText", "archived", corruptText(archived, nil))
	add("noDirectoryHereText", "", noDirectoryHereText(errors.New("getwd: no such file or directory")))
	add("trashedText", "", trashedText(aliceID, "/a/"+hostile+"/trash"))
	add("missingFileText", "", missingFileText("journal", hostile))
	add("parseText", "", parseText(errors.New("unknown flag --"+hostile)))
	add("parseText", "no value", parseText(errors.New(`--session: expected string value but got "EOL" (<EOL>)`)))
	add("typedInChat", "sessions", typedInChat(explain(&catalog.NotFoundError{Name: hostile})))
	add("typedInChat", "teams", typedInChat(explain(noTeam)))
	add("thinkingText", "", thinkingText(hostile))
	add("usingText", "", usingText("Ada", hostile))
	add("noAnswerFromText", "a script", noAnswerFromText("Ada", "Ada failed: "+hostile, false))
	add("noAnswerFromText", "a person", noAnswerFromText("Ada", "Codex failed: "+hostile, true))
	add("noAnswerFromText", "a reason that knows what helps", noAnswerFromText("Ada", "Ada failed: out of memory; to try again, type /retry", true))
	add("archiveHelp", "", archiveHelp(aliceID))
	add("archivedText", "", archivedText(aliceID))
	add("repairHelp", "", repairHelp(aliceID))
	headless := damaged
	headless.MissingHeader = true
	zst := damaged
	zst.Archived = true
	add("damageHelp", "", damageHelp(damaged, nil))
	add("damageHelp", "archived", damageHelp(zst, nil))
	add("damageHelp", "no session", damageHelp(headless, nil))
	add("damageHelp", "a file", damageHelp(damaged, &fileError{path: "/share/a b.jsonl"}))
	add("damagedCountText", "one", damagedCountText([]string{repairHelp(aliceID)}, 3))
	add("damagedCountText", "two", damagedCountText([]string{repairHelp(aliceID), archiveHelp(bobID)}, 3))
	add("notInTrashText", "nothing", notInTrashText(hostile, nil))
	add("notInTrashText", "one", notInTrashText(hostile, []string{aliceID}))
	add("notInTrashText", "twelve", notInTrashText(hostile, slices.Repeat([]string{aliceID}, 12)))
	explained("nothing is the latest", &catalog.NotFoundError{Name: catalog.LatestName})
	add("corruptText", "a line over the limit", corruptText(longLine, nil))
	add("headlessText", "", headlessText(aliceID, "it does not begin with session.created", nil))
	add("stillHeadlessText", "", stillHeadlessText(damaged))
	add("headlessHelp", "", headlessHelp(aliceID))
	file := &fileError{"/the folder/" + hostile + ".jsonl", corrupt}
	explained("a journal that was named by its path", file)
	add("lockedText", "a file", lockedText(locked, file))
	add("headlessText", "a file", headlessText("k", "it does not begin with session.created", file))
	add("tooLongText", "", tooLongText(tooLong))
	add("unfinishedText", "", unfinishedText(projection.Entry{Partial: true}))
	add("unfinishedText", "that was cut", unfinishedText(projection.Entry{Partial: true, Said: 70000000, Message: projection.Message{Content: "It is"}}))
	add("allowText", "", allowText(100_000))
	add("allowText", "more than can be", allowText(2<<30))
	for _, err := range []error{denied, readOnly, full, errors.New("else")} {
		add("remedy", err.Error(), strings.TrimPrefix(remedy(err), "\n"))
	}
	for _, err := range []error{journal.ErrNotFound, journal.ErrReplaced, corrupt} {
		add("followEndedText", firstLine(err.Error()), followEndedText(aliceID, err))
	}
	for _, err := range []error{syscall.EMFILE, syscall.ENOSPC, errors.New(hostile)} {
		add("notNotifiedText", safeLine(err.Error()), notNotifiedText(err))
	}
	add("usageHint", "no command", usageHint(errors.New("unknown flag")))
	add("sentence", "", sentence(errors.New("several\nlines")))
	add("sentence", "nothing", sentence(errors.New("")))
	add("sentence", "a file", sentence(errors.New("team.json: it is empty")))
	add("sentence", "another alphabet", sentence(errors.New("école: it is empty")))
	add("greetingText", "", greetingText(review))
	add("interruptedTurnText", "", interruptedTurnText("Ada"))
	add("promptCutText", "a limit of the agent", promptCutText(hostile, 7))
	add("messageCutText", "a limit of the agent", messageCutText(hostile, 9437312))
	add("secretsReplacedText", "one", secretsReplacedText([]string{"github-token"}, 1))
	add("secretsReplacedText", "three", secretsReplacedText([]string{hostile, "github-token"}, 3))
	add("exportedWithoutText", "", exportedWithoutText([]string{hostile, "github-token"}))
	add("importedText", "", importedText(imported{Path: hostile, ID: aliceID, Action: "imported", Taken: 3, Total: 3}))
	add("importFirstText", "", importFirstText("/"+hostile, "claude"))
	add("severalInBundleText", "", severalInBundleText("/"+hostile, 2))
	add("permissionText", "a person allowed it", permissionText(projection.PermissionAnswered{Name: "execute", Title: "rm -r /" + hostile, Allowed: true, By: projection.ByPerson}))
	add("permissionText", "nobody was there", permissionText(projection.PermissionAnswered{Name: "execute", By: projection.ByNobody}))
	add("askLeaveText", "all that is known", askLeaveText("Ada", agent.Permission{Tool: "execute", Title: "rm -r /" + hostile, Input: []byte(`{"command":"rm -r /"}`)}))
	add("askLeaveText", "much of it", askLeaveText("Ada", agent.Permission{Tool: "edit", Input: []byte(strings.Repeat("x", 2*shownInput))}))
	add("orphansEndedText", "", orphansEndedText(3))
	add("notPermittedText", "it may do nothing", notPermittedText(hostile, hostile))
	add("nobodyToAskText", "input from a pipe", nobodyToAskText(hostile, hostile))
	for _, kind := range []coordinator.NoticeKind{
		coordinator.RoundLimit, coordinator.RunLimit, coordinator.Round, coordinator.RunRound, coordinator.QueueFull, coordinator.QueueDemoted,
		coordinator.QueueEmptied, coordinator.NotHuman, coordinator.TaskRefused, coordinator.TaskDone, coordinator.TaskCut,
	} {
		add("noticeText", fmt.Sprint(kind), noticeText(coordinator.Notice{Kind: kind, Names: []string{"Ada", hostile}, Limit: 10, Count: 3}))
	}
	add("forkedText", "", forkedText(aliceID, bobID))
	add("taskSetText", "", taskSetText(hostile))
	add("renamedText", "", renamedText(hostile))
	add("olderText", "", olderText(2, aliceID))
	add("changedText", "another", changedText(hostile, "agent", hostile, "codex"))
	add("changedText", "none before", changedText("Ada", "model", "", "opus"))
	add("pinnedText", "", pinnedText(aliceID))
	add("unsaidText", "", unsaidText(1))
	add("followingText", "", followingText(aliceID, hostile))
	add("partingText", "", partingText(aliceID, bobID, projection.Parting{A: 12, B: 10, Messages: 5}))
	add("partingText", "strangers", partingText(aliceID, bobID, projection.Parting{}))
	add("aloneText", "", aloneText("<", aliceID, 3))
	add("aloneText", "nothing", aloneText(">", bobID, 0))
	add("mergedText", "", mergedText(aliceID, bobID, sessioncopy.Merged{ID: "01JDQ3W7ZK8M5N6P7Q8R9S0T1C", Common: 5, A: 3, B: 1}))
	add("mergeTeamsText", "", mergeTeamsText(alice, bob))
	add("askedAgainText", "", askedAgainText(aliceID, bobID))
	add("notReachedText", "", notReachedText(aliceID, "turn:99"))
	add("promptText", "", promptText(hostile, "You are "+hostile+"\n\nMessage from You:\nhello\n"))
	explained("several people", &coordinator.WhoSpeaksError{Humans: []string{"mia", hostile}})
	add("whoSpeaksText", "", whoSpeaksText(&coordinator.WhoSpeaksError{Humans: []string{hostile}}))
	add("roundsText", "one", roundsText(1, 10))
	add("roundsText", "fewer are allowed now", roundsText(11, 10))
	add("roundsText", "no limit", roundsText(3, 0))
	add("resumingText", "", resumingText(since, 5, 2, 10))
	add("resumingText", "no limit", resumingText(since, 5, 2, 0))
	waits := coordinator.Queued{Member: team.Member{Name: "ada"}, Intent: marker.Reply, AskedBy: hostile, Text: strings.Repeat(hostile+" ", 20)}
	interrupts, extends := waits, waits
	interrupts.Intent, extends.Intent = marker.Interrupt, marker.Extend
	decided := []projection.QueueChange{{Action: projection.QueueDropped, MemberID: hostile, Reason: "a message dropped it"}}
	add("queueText", "nobody", queueText(nil, nil))
	wordless := waits
	wordless.Text = ""
	add("queueText", "an empty message", queueText([]coordinator.Queued{wordless}, nil))
	add("queueText", "", queueText([]coordinator.Queued{interrupts, waits, extends}, decided))
	add("intentText", "", intentText(marker.Reply))
	add("firstWords", "", firstWords("hello"))
	add("resumeCommandText", "", resumeCommandText("--resume "+aliceID))
	add("restoreQuestion", "", restoreQuestion(alice.Row, at))
	add("restoreQuestion", "hostile", restoreQuestion(bob.Row, at))
	add("recentText", "", recentText([]catalog.Session{alice, bob}, at, 0))
	add("recentText", "a narrow terminal", recentText([]catalog.Session{alice, bob}, at, 36))
	add("notRecordedText", "", notRecordedText(&catalog.NotRecordedError{Err: locked}))
	add("notRecordedText", "a full disk", notRecordedText(&catalog.NotRecordedError{Err: full}))
	add("listingText", "", listingText(41230, 100000))
	add("undatedText", "", undatedText(aliceID))
	add("count", "none", count(0, "message"))
	add("count", "one", count(1, "message"))
	add("count", "two", count(2, "message"))
	for _, d := range []time.Duration{-time.Hour, 59 * time.Second, time.Minute, 59 * time.Minute, time.Hour, 23 * time.Hour, 24 * time.Hour, 400 * 24 * time.Hour} {
		add("longAge", d.String(), longAge(ago(d), at))
		add("age", d.String(), age(ago(d), at))
	}
	add("unsearchedText", "", unsearchedText(&search.Error{Session: alice, Err: corrupt}))
	add("unsearchedText", "for another reason", unsearchedText(errors.New(hostile)))
	add("mendedText", "", mendedText(aliceID, "sessions.json did not agree with it", nil))
	add("mendedText", "that cannot be removed", mendedText(aliceID, "sessions.json did not agree with it", errors.New(hostile)))
	add("emptyText", "", emptyText(journal.Info{ID: aliceID, Dir: filepath.Dir(corrupt.Path), Size: 4096}))
	add("strangerText", "", strangerText("/home/hugo/.agent-chatter/sessions/review/"+hostile))
	add("directoryText", "", directoryText("/a/"+hostile))
	add("keepsTeamText", "", keepsTeamText("/a/"+hostile))
	add("pipeText", "", pipeText("/a/"+hostile))
	explained("a full disk behind standard output", &outputError{fmt.Errorf("standard output: %w", full)})
	add("reindexedDamagedText", "", reindexedDamagedText(2))
	add("notExportedText", "some", notExportedText(1, 3))
	add("notExportedText", "all", notExportedText(3, 3))
	add("someAre", "one", someAre(1, 3, "session"))
	add("someAre", "two", someAre(2, 2, "session"))
	explained("a configuration with one thing wrong", &configError{"/a/config.json", []string{"there is no setting " + hostile}})
	explained("a configuration with two things wrong", &configError{"/a/config.json", []string{"there is no setting " + hostile, "retention.keep is a whole number, not a text"}})
	add("aTeamText", "", aTeamText("/a/"+hostile))
	add("noFileText", "", noFileText("/a/"+hostile))
	add("noFileToWriteText", "", noFileToWriteText("/a/"+hostile))
	add("archiveElsewhereText", "", archiveElsewhereText("/a/"+hostile))
	add("archiveElsewhereText", "in the trash", archiveElsewhereText("/a/trash/"+aliceID+".jsonl.zst"))
	add("goOnWithArchiveText", "", goOnWithArchiveText("/a/"+hostile+"/archive/"+aliceID+".jsonl.zst"))
	add("nothingInText", "", nothingInText("/a/"+hostile))
	add("noDirectoryText", "", noDirectoryText("/a/"+hostile))
	add("notSearchedText", "", notSearchedText(1, 1))
	add("tornText", "", tornText(aliceID, journal.Torn{Offset: 4096, Bytes: 17}))
	add("progressText", "to the archive", progressText(journal.Progress{ID: aliceID, Done: 512, Total: 1024}))
	add("progressText", "back, at its beginning", progressText(journal.Progress{ID: hostile, Unarchive: true, Total: 1024}))
	add("setAsideText", "a torn tail", setAsideText(journal.Recovered{Reason: "the last line has no end", Aside: aliceID + ".aside-1", Bytes: 17}))
	add("setAsideText", "a failed write", setAsideText(journal.Recovered{Reason: "a write failed: no space left on device", Bytes: 17}))
	add("setAsideText", "a failed sync", setAsideText(journal.Recovered{Reason: "a sync failed: input/output error"}))
	add("networkText", "", networkText("/net/"+hostile, "NFS"))
	return append(texts, doctorTexts(damaged, denied, full)...)
}

// doctorTexts calls every function for what doctor finds.
func doctorTexts(damaged catalog.Session, denied, full error) []text {
	var texts []text
	add := func(function, sample, shown string) { texts = append(texts, text{function, sample, shown}) }
	found := func(function, sample string, f finding) {
		add(function, sample, fmt.Sprintf("%s: %s\n%s", f.State, f.What, f.Help))
	}
	const home, path = "/home/" + hostile, "/home/" + hostile + "/config.json"
	archived := damaged
	archived.Archived = true
	add("wrongText", "one", wrongText(1))
	add("wrongText", "two", wrongText(2))
	found("homeText", "", homeText(home))
	found("homeToComeText", "", homeToComeText(home))
	found("homeWrongText", "", homeWrongText(denied))
	found("sharedText", "", sharedText(home, "NFS"))
	found("privateText", "", privateText())
	found("openText", "", openText(home, 1, everybody, path, 0o644))
	found("hiddenText", "", hiddenText(home, 2, path, 0o644))
	found("foreignText", "one", foreignText(home, 1, 1000, path))
	found("foreignText", "two", foreignText(home, 2, 1000, path))
	found("closedText", "", closedText(home, 1, path, 0o444))
	add("files", "", files(2))
	add("areFiles", "", areFiles(2))
	found("unreadableText", "", unreadableText(denied))
	found("noLockText", "", noLockText(errors.New(hostile)))
	found("lockTwiceText", "", lockTwiceText(home))
	found("diskWrongText", "full", diskWrongText(full))
	found("diskWrongText", "else", diskWrongText(errors.New(hostile)))
	found("diskText", "case matters", diskText(true))
	found("diskText", "case does not matter", diskText(false))
	add("spaceText", "", spaceText(3<<30, 17))
	add("spaceText", "inodes without a limit", spaceText(3<<30, math.MaxUint64))
	found("noSpaceText", "", noSpaceText(denied))
	for _, n := range []uint64{0, 1, 1023, 1024, 1536, 1 << 20, 5 << 40, math.MaxUint64} {
		add("bytesText", fmt.Sprint(n), bytesText(n))
	}
	found("watchesText", "", watchesText(usage{1, 128}, usage{2, 8192}))
	found("fewWatchesText", "", fewWatchesText(usage{127, 128}, usage{2, 8192}))
	found("configWrongText", "", configWrongText(errors.New("config.json: "+hostile)))
	found("registryWrongText", "", registryWrongText(errors.New("agents/config.json: "+hostile)))
	found("sessionsText", "", sessionsText("demo", 3))
	found("damagedText", "", damagedText(damaged))
	found("damagedText", "archived", damagedText(archived))
	found("leftoversText", "", leftoversText(home, 1, 2048))
	found("trashText", "", trashText(2, 2048))
	found("agentsText", "", agentsText(2))
	found("noProgramText", "", noProgramText(home, team.Agent{Name: hostile, Command: hostile}, errors.New("it is not there")))
	return append(texts, agentTexts()...)
}

// agentTexts calls every function for what is said of agents.
func agentTexts() []text {
	var texts []text
	add := func(function, sample, shown string) { texts = append(texts, text{function, sample, shown}) }
	found := func(function, sample string, f finding) {
		add(function, sample, fmt.Sprintf("%s: %s\n%s", f.State, f.What, f.Help))
	}
	enemy := team.Agent{Name: hostile, Command: hostile, Args: []string{hostile}}
	start := &process.StartError{Command: "claude", Install: []string{"npm", "install", "-g", "x"}, Err: exec.ErrNotFound}
	add("noAgentText", "", noAgentText(fmt.Errorf("%w: %q", team.ErrAgentNotFound, hostile)))
	add("registeredText", "", registeredText(enemy))
	add("alreadyRegisteredText", "", alreadyRegisteredText(enemy))
	add("unregisteredText", "", unregisteredText(enemy))
	add("noCommandText", "", noCommandText(hostile))
	add("scannedText", "not found", strings.ReplaceAll(scannedText(scanned{Name: "claude", DisplayName: "Claude Code", Install: "npm install -g x"}), "\t", " | "))
	add("scannedText", "found", strings.ReplaceAll(scannedText(scanned{Name: "claude", DisplayName: "Claude Code", Found: true, Path: "/bin/" + hostile, Registered: true}), "\t", " | "))
	add("scannedText", "broken", strings.ReplaceAll(scannedText(scanned{Name: "claude", DisplayName: "Claude Code", Found: true, Path: "/bin/claude", Broken: hostile}), "\t", " | "))
	found("executableText", "", executableText("/bin/"+hostile, "1.2"))
	found("executableText", "no version", executableText("/bin/true", ""))
	found("noExecutableText", "", noExecutableText(start))
	found("noExecutableText", "no command", noExecutableText(&process.StartError{Err: exec.ErrNotFound}))
	found("noEngineText", "", noEngineText(hostile))
	found("unsetText", "", unsetText([]string{"A_KEY", "B_KEY"}))
	found("notLoggedInText", "", notLoggedInText(agent.Remedy{Advice: "log in", Hint: hint.Hint{Kind: hint.Run, Argv: []string{"codex", "login"}}}))
	add("remedyText", "", remedyText(hostile, hint.Hint{Kind: hint.Run, Argv: []string{hostile}}))
	add("noWordOnLoginText", "", noWordOnLoginText(errors.New(hostile)))
	add("tryingOutText", "", tryingOutText(hostile))
	found("anyhowText", "", anyhowText("it says that it is not logged in"))
	found("noAnswerText", "", noAnswerText(&agent.FailureError{Agent: "x", Reason: hostile, Remedy: agent.Remedy{Advice: "log in"}}))
	found("noAnswerText", "in a chat it would be retried", noAnswerText(&agent.FailureError{Agent: "x", Reason: hostile, Remedy: agent.Remedy{Advice: "retry", Hint: hint.Hint{Kind: hint.Slash, Argv: []string{"retry"}}}}))
	found("noAnswerText", "no program", noAnswerText(start))
	found("noAnswerText", "else", noAnswerText(notInTime(time.Minute)))
	found("answerText", "", answerText(hostile, 1234*time.Millisecond))
	add("notWorkingText", "", notWorkingText(1, 2))
	return append(texts, teamTexts()...)
}

// teamTexts calls every function for what is said of teams.
func teamTexts() []text {
	var texts []text
	add := func(function, sample, shown string) { texts = append(texts, text{function, sample, shown}) }
	member := team.Member{Name: hostile, BaseDir: "/" + hostile}
	add("noPermissionsText", "", noPermissionsText(member))
	add("unsetNoticeText", "", unsetNoticeText(member, []string{"A_KEY", "B_KEY"}))
	add("inPlainText", "", inPlainText(member, []string{"A_KEY", "B_KEY"}))
	add("noBaseDirText", "", noBaseDirText(member))
	for sample, row := range []listedTeam{
		{Name: "review", Path: "/home/it's mine/review.json", Members: []string{"ada", "you"}, Valid: true},
		{Name: hostile, Path: "/" + hostile},
		{Name: "demo", Members: []string{"planner"}, Valid: true, Hidden: true},
	} {
		add("listedText", fmt.Sprint(sample+1), strings.ReplaceAll(listedText(row), "\t", " | "))
	}
	add("shownTeamText", "", shownTeamText(shownTeam{
		Name: "review", DisplayName: "Review", Description: hostile, Path: "/review.json", MaxRounds: 10, MaxAgentResponseTime: 1_800_000,
		Members: []shownMember{
			{Name: "ada", DisplayName: "Ada", Type: "ai", Role: "author", AgentType: "x", Engine: "command", Command: "/bin/x", Args: []string{hostile}, Model: "m1", Permissions: "read", BaseDir: "/work", Env: []string{"A_KEY"}, Unset: []string{"B_KEY"}},
			{Name: "you", DisplayName: hostile, Type: "human"},
		},
	}))
	add("allowedRoundsText", "", allowedRoundsText(0))
	add("writtenTeamText", "", writtenTeamText("review"))
	add("fileThereText", "", fileThereText("/"+hostile))
	add("agentChoiceText", "", agentChoiceText(choices{found: []string{"claude"}, more: []string{"codex", "demo"}}))
	add("unknownAgentsText", "", unknownAgentsText([]string{hostile}, []string{"claude", "demo"}))
	add("twiceText", "", twiceText("claude"))
	return texts
}

func TestTextsAreThoseOfTheGoldenFile(t *testing.T) {
	slash := strings.NewReplacer(filepath.Join("sessions", "review"), "sessions/review")
	var got strings.Builder
	for _, text := range sampleTexts() {
		fmt.Fprintf(&got, "## %s\n%s\n\n", strings.TrimSuffix(text.function+": "+text.sample, ": "), slash.Replace(text.shown))
	}
	golden := filepath.Join("testdata", "messages.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("to accept them, run it with -update (-want +got):\n%s", diff)
	}
}

func TestEveryFunctionOfTheTextsHasASample(t *testing.T) {
	names, err := filepath.Glob("*messages.go")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	texts := sampleTexts()
	for _, name := range names {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, declared := range file.Decls {
			function, ok := declared.(*ast.FuncDecl)
			if ok && !slices.ContainsFunc(texts, func(s text) bool { return s.function == function.Name.Name }) {
				t.Errorf("%s has no sample", function.Name.Name)
			}
		}
	}
}

func TestNoTextActsOnATerminal(t *testing.T) {
	for _, text := range sampleTexts() {
		if r, found := acting(text.shown); found {
			t.Errorf("%s (%s) contains %U: %q", text.function, text.sample, r, text.shown)
		}
	}
}

// promised is what other programs and people rely on, letter by letter.
var promised = []struct{ behaviour, got, want string }{
	{"a session of a team is not found", notFoundForTeam("X", "Y"),
		"Session 'X' not found for team 'Y'.\nUse --resume without ID to restore the latest session, or start a new session."},
	{"a session belongs to another team", mismatchText(&store.TeamMismatchError{Want: "X", Got: "Y"}),
		"Session teamId mismatch: snapshot is for team 'X', but current team is 'Y'.\nPlease use the correct team configuration."},
	{"a restore needs a team", explain(coordinator.ErrNoTeam),
		"Team must be set before restoring session"},
	{"a team has no sessions", nothingForTeam("X"),
		"No previous sessions found for team 'X'"},
	{"members are missing", missingText([]projection.MemberRef{{Name: "ada"}, {Name: "bea"}}),
		"⚠️  Some speakers in history are not in current team: ada, bea\n   Their messages will be displayed with original names."},
	{"a save fails", saveFailedText(errors.New("disk full")),
		"❌  Failed to save session: disk full"},
	{"a session cannot be loaded", firstLine(damagedSkippedText(catalog.Session{ID: "X", Damaged: "reason"})),
		"⚠️  Failed to load session X: reason"},
	{"a session is of a newer format", firstLine(incompatibleText(catalog.Session{ID: "X", Row: projection.Row{Newer: "2.0"}})),
		"⚠️  Session X has incompatible schema version: 2.0"},
	{"there is nothing to resume", firstLine(textNothingToResume),
		"No session to resume"},
	{"a session is resumed", resumedText("session-m5abc-xyz", 12),
		"✓ Resumed session: session-m5abc-xyz (12 messages loaded)"},
	{"a team with history is deployed",
		restoreQuestion(projection.Row{MessageCount: 15, Preview: "first message", UpdatedAt: time.Unix(0, 0)}, time.Unix(2*3600, 0)),
		"Found previous session (2 hours ago, 15 messages)\n  15 messages - \"first message\"\n[R] Resume  [N] Start New"},
	{"sessions are offered",
		recentText([]catalog.Session{
			{ID: "session-m5abc-xyz", Row: projection.Row{Title: "Write a calculator", UpdatedAt: time.Unix(22*3600, 0)}},
			{ID: "session-k3def-uvw", Row: projection.Row{Title: "Repair the login", UpdatedAt: time.Unix(0, 0)}},
		}, time.Unix(24*3600, 0), 0),
		"Recent Sessions:\n  1. [-xyz] Write a calculator (2h ago)\n  2. [-uvw] Repair the login (1d ago)\nEnter number or session ID to resume (or press Enter to cancel):"},
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

func TestTextsThatOthersRelyOnAreKeptWordForWord(t *testing.T) {
	for _, p := range promised {
		t.Run(p.behaviour, func(t *testing.T) {
			if diff := cmp.Diff(p.want, p.got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
