package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/hint"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/search"
	"github.com/clipperhouse/displaywidth"
)

// recentText offers sessions to be resumed.
// On a terminal of so many columns each takes one line; 0: it may take more.
func recentText(sessions []catalog.Session, now time.Time, columns int) string {
	short := catalog.ShortIDs(sessions)
	var b strings.Builder
	b.WriteString("Recent Sessions:\n")
	for i, s := range sessions {
		before, behind := fmt.Sprintf("  %d. [%s] ", i+1, short[s.ID]), fmt.Sprintf(" (%s)", age(s.UpdatedAt, now))
		title := safeLine(s.Title)
		if columns > 0 {
			title = displaywidth.TruncateString(title, max(columns-1-displaywidth.String(before+behind), leastShown), "…")
		}
		b.WriteString(before + title + behind + "\n")
	}
	b.WriteString("Enter number or session ID to resume (or press Enter to cancel):")
	return b.String()
}

// notRecordedText says that retention did something and could not write it down.
func notRecordedText(err error) string {
	return fmt.Sprintf("⚠️  %s\n   What is listed above is done all the same.", sentence(err)) + remedy(err)
}

// listingText says how much of a list was read.
func listingText(done, of int) string { return fmt.Sprintf("Reading sessions: %d of %d", done, of) }

func undatedText(id string) string {
	return fmt.Sprintf("Since when session %s is in the trash is not known: it counts from now on.", id)
}

// count is a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// reindexedDamagedText says how to find out more of the damaged ones.
func reindexedDamagedText(n int) string {
	return fmt.Sprintf("%d damaged: agent-chatter verify shows where", n)
}

// notExportedText says how many sessions an export of all has left out.
func notExportedText(left, of int) string {
	if left == of {
		return fmt.Sprintf("Nothing was exported: none of %s can be read.", count(of, "session"))
	}
	return fmt.Sprintf("Not exported, because it cannot be read: %d of %s. All others are.", left, count(of, "session"))
}

// someAre is how many of all are, such as "1 of 3 sessions is".
func someAre(n, of int, noun string) string {
	are := "are"
	if n == 1 {
		are = "is"
	}
	return fmt.Sprintf("%d of %s %s", n, count(of, noun), are)
}

// progressText is how far a journal has come to the archive or back. What matters comes
// first: a narrow terminal shows no more.
func progressText(p journal.Progress) string {
	what := "Archiving"
	if p.Unarchive {
		what = "Bringing back"
	}
	const width = 20
	done := int(width * p.Done / max(1, p.Total))
	return fmt.Sprintf("%s %s%s %d%%  session %s", what, strings.Repeat("━", done), strings.Repeat("─", width-done), 100*p.Done/max(1, p.Total), safeLine(p.ID))
}

// longAge is how long ago something was, in words.
func longAge(t, now time.Time) string {
	if n, unit := elapsed(t, now); n > 0 {
		return count(n, unit) + " ago"
	}
	return "just now"
}

// tornText says what a crash left behind.
func tornText(id string, t journal.Torn) string {
	readable := ""
	if t.FirstSeq > 0 {
		readable = fmt.Sprintf(", in which events up to %d can be read and do not check", t.LastSeq)
	}
	return fmt.Sprintf("Session %s has %d bytes of an unfinished write at its end (byte %d)%s, as a crash leaves them: they are set aside by the next message.", id, t.Bytes, t.Offset, readable)
}

// unsearchedText says that a session was not searched, or not to its end.
func unsearchedText(err error) string {
	var of *search.Error
	if !errors.As(err, &of) {
		return safeLine(err.Error())
	}
	return fmt.Sprintf("⚠️  Session %s was not searched to its end: %s\n   To see what is wrong, type: agent-chatter verify %[1]s", of.Session.ID, safeLine(of.Err.Error()))
}

// keepsTeamText says that a file tells itself whose session it has.
func keepsTeamText(path string) string {
	return fmt.Sprintf("%s says itself which team its sessions are of: --team is for transcripts of other programs.", safeLine(path))
}

// pipeText says that what is to be imported cannot be read twice.
func pipeText(path string) string {
	return fmt.Sprintf("%s is no file, but a pipe or a device, which cannot be read twice. Write what comes out of it to a file, and import that.", safeLine(path))
}

func directoryText(path string) string {
	return fmt.Sprintf("There is a directory %s: name a journal in it, whose name ends in .jsonl, or a snapshot.", safeLine(path))
}

// aTeamText is said of a file that holds no session.
func aTeamText(path string) string {
	return fmt.Sprintf("%s is the configuration of a team, not a session. To talk to the team, type: agent-chatter chat -t %s", safeLine(path), hint.Quote(path))
}

func noFileText(path string) string {
	return fmt.Sprintf("There is no file or directory %s. Name sessions that agent-chatter or another program has written, or directories of them.", safeLine(path))
}

func noFileToWriteText(path string) string {
	return fmt.Sprintf("%s is no file. A chat writes to files alone; to write elsewhere, type in a shell: agent-chatter sessions export latest -o %s", safeLine(path), hint.Quote(path))
}

// nothingInText says what is looked for in a directory.
func nothingInText(dir string) string {
	return fmt.Sprintf("There is no session in %s, or in the directories below it: none of their files ends in .json, .jsonl, .jsonl.zst or .bundle.", safeLine(dir))
}

// archiveElsewhereText is said of an archived journal that somebody moved.
func archiveElsewhereText(path string) string {
	if filepath.Base(filepath.Dir(path)) == "trash" {
		return fmt.Sprintf("%s was deleted. To take it back, type: agent-chatter sessions restore %s", safeLine(path), hint.Quote(strings.TrimSuffix(filepath.Base(path), archiveSuffix)))
	}
	return fmt.Sprintf("%s is an archived journal that is not in a directory called archive. To have the journal itself, type: zstd -d %s", safeLine(path), hint.Quote(path))
}

// goOnWithArchiveText says how to go on with an archived journal: who brings it
// back from its archive has to know which directory is its own.
func goOnWithArchiveText(path string) string {
	return fmt.Sprintf("%s is an archived journal. To go on with its session in the home that it belongs to, type: agent-chatter chat --resume %s\nFrom elsewhere, take it over first: agent-chatter sessions import %s",
		safeLine(path), hint.Quote(strings.TrimSuffix(filepath.Base(path), archiveSuffix)), hint.Quote(path))
}

func noDirectoryText(dir string) string {
	return fmt.Sprintf("There is no directory %s, and nothing was written. To have it made, write a / behind it: the file gets a name of its own in it.", safeLine(dir))
}

// notSearchedText ends a search that met damage.
func notSearchedText(damaged, of int) string {
	return fmt.Sprintf("%d of %s: not searched to the end, because of damage.", damaged, count(of, "session"))
}

// mendedText says that a cache was wrong, and what became of it.
func mendedText(id, what string, err error) string {
	if err != nil {
		return fmt.Sprintf("Session %s: %s, and could not be removed: %s. It is only a cache: remove it, and it is made anew.", id, what, safeLine(err.Error()))
	}
	return fmt.Sprintf("Session %s: %s. It was removed; it is only a cache, and made anew when it is needed.", id, what)
}

// emptyText says that a file has a journal's name and nothing that could be read.
func emptyText(info journal.Info) string {
	return fmt.Sprintf("%s is no session: none of its %d bytes can be read. A power cut leaves this of a session that was just begun, or it is somebody else's file. It was left alone.", info.Path(), info.Size)
}

// strangerText says that a file is none of ours.
func strangerText(path string) string {
	return fmt.Sprintf("%s is none of our files, and was left alone.", safeLine(path))
}

// age is how long ago something was, as lists show it.
func age(t, now time.Time) string {
	if n, unit := elapsed(t, now); n > 0 {
		return fmt.Sprintf("%d%c ago", n, unit[0])
	}
	return "now"
}

// networkText is said where a lock may not be all that it seems.
func networkText(dir, kind string) string {
	f := sharedText(dir, kind)
	return "⚠️  " + f.What + ".\n" + f.Help
}
