package doctor

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/trash"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

func (d *doctor) checkSessions() []app.Finding {
	c := catalog.New(filepath.Join(d.Home, "sessions"), journal.Options{FS: readOnlyFS{d.fs}})
	teams, err := c.Teams()
	if err != nil {
		return []app.Finding{unreadableText(err)}
	}
	var all []app.Finding
	for _, t := range teams {
		all = append(all, d.checkTeam(t)...)
	}
	if len(all) == 0 {
		return []app.Finding{app.Fine(textNoSessions)}
	}
	return all
}

// checkTeam checks the journals that the index does not know, and the end of each.
func (d *doctor) checkTeam(t *catalog.Dir) []app.Finding {
	list, err := t.List(d.ctx, catalog.Query{})
	if err != nil {
		return []app.Finding{unreadableText(err)}
	}
	if len(list.Sessions) == 0 {
		return nil
	}
	all := []app.Finding{sessionsText(filepath.Base(t.Journals().Path()), len(list.Sessions))}
	for _, s := range list.Sessions {
		if s.Damaged == "" {
			if err := t.Journals().Check(s.ID); err != nil && !errors.Is(err, journal.ErrNotFound) {
				s = app.Failed(s, err)
			}
		}
		switch {
		case s.ReadErr != nil:
			all = append(all, unreadableText(s.ReadErr))
		case s.Damaged != "":
			all = append(all, damagedText(s))
		case s.Invalid > 0:
			all = append(all, invalidEventsText(s))
		}
	}
	return all
}

// checkLeftovers finds the temporary files that a crash left.
func (d *doctor) checkLeftovers() []app.Finding {
	n, bytes := 0, int64(0)
	for _, f := range d.files {
		if f.info.Mode().IsRegular() && strings.HasSuffix(f.path, ".tmp") {
			n, bytes = n+1, bytes+f.info.Size()
		}
	}
	if n > 0 {
		return []app.Finding{leftoversText(d.Home, n, bytes)}
	}
	return []app.Finding{app.Fine(textNoLeftovers)}
}

func (d *doctor) checkTrash() []app.Finding {
	teams, err := d.Catalog.Teams()
	if err != nil {
		return []app.Finding{unreadableText(err)}
	}
	n, bytes := 0, int64(0)
	for _, t := range teams {
		trashed, err := trash.Of(t.Journals()).List()
		if err != nil {
			return []app.Finding{unreadableText(err)}
		}
		for _, item := range trashed {
			n, bytes = n+1, bytes+item.Bytes
		}
	}
	if n > 0 {
		return []app.Finding{trashText(n, bytes)}
	}
	return []app.Finding{app.Fine(textEmptyTrash)}
}

const (
	textNoSessions  = "there are none yet"
	textNoLeftovers = "there are no temporary files"
	textEmptyTrash  = "it is empty"
)

func sessionsText(dir string, n int) app.Finding {
	f := app.Fine(fmt.Sprintf("%s in %s", app.Count(n, "session"), tty.SafeLine(dir)))
	f.Commands = []app.Help{app.To("check every line", "verify")}
	return f
}

func damagedText(s catalog.Session) app.Finding {
	help := app.DamageHelp(s, nil)
	return app.Wrong(fmt.Sprintf("session %s is damaged: %s", s.ID, tty.SafeLine(s.Damaged)), help.Text, help.Help...)
}

func invalidEventsText(s catalog.Session) app.Finding {
	return app.Wrong(fmt.Sprintf("session %s has %s, first event %d",
		s.ID, app.Count(s.Invalid, "invalid event"), s.FirstInvalid), "",
		app.To("locate them", "verify", s.ID), app.To("set them aside", "repair", s.ID))
}

func leftoversText(home string, n int, bytes int64) app.Finding {
	return app.Note(
		fmt.Sprintf("a crash left %s (%s) that can be removed",
			app.Count(n, "temporary file"), app.Bytes(uint64(bytes))),
		"",
		app.ToRun("remove them while no agent-chatter runs", "find", home, "-name", "*.tmp", "-type", "f", "-delete"),
	)
}

func trashText(n int, bytes int64) app.Finding {
	f := app.Fine(fmt.Sprintf("%s (%s)", app.Count(n, "session"), app.Bytes(uint64(bytes))))
	f.Commands = []app.Help{app.To("list what emptying it would delete", "sessions", "clean", "--trash", "--dry-run")}
	return f
}

func unreadableText(err error) app.Finding {
	return app.Wrong(app.Sentence(err), "Check its permissions and the disk.")
}
