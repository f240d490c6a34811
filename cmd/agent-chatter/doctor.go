package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

type doctorCommand struct {
	Output string `help:"What is printed: ${enum}." enum:"text,json" default:"text"`
}

// Help shows examples first.
func (doctorCommand) Help() string {
	return `Examples:
  agent-chatter doctor
  agent-chatter doctor --output json | jq 'select(.state != "ok")'`
}

// finding is what a check has found.
type finding struct {
	Check string `json:"check"`
	State state  `json:"state"`
	What  string `json:"what"` // is the matter
	Help  string `json:"help"` // what helps; "" when nothing has to be done
}

type state string

const (
	stateOK    state = "ok"
	stateNote  state = "note" // good to know
	stateWrong state = "wrong"
)

func fine(what string) finding        { return finding{State: stateOK, What: what} }
func note(what, help string) finding  { return finding{State: stateNote, What: what, Help: help} }
func wrong(what, help string) finding { return finding{State: stateWrong, What: what, Help: help} }

// checks are what doctor looks at, one after another.
var checks = []struct {
	name   string
	inHome bool // there is nothing to look at without one
	look   func(*doctor) []finding
}{
	{"home", false, (*doctor).checkHome},
	{"permissions", true, (*doctor).checkPermissions},
	{"network", false, (*doctor).checkNetwork},
	{"locks", true, (*doctor).checkLocks},
	{"disk", true, (*doctor).checkDisk},
	{"space", false, (*doctor).checkSpace},
	{"watches", false, (*doctor).checkWatches},
	{"config.json", false, (*doctor).checkConfig},
	{"sessions", true, (*doctor).checkSessions},
	{"leftovers", true, (*doctor).checkLeftovers},
	{"trash", true, (*doctor).checkTrash},
	{"agents", false, (*doctor).checkAgents},
}

// Run implements the command.
func (cmd *doctorCommand) Run(a *app) error {
	d := newDoctor(a)
	bad := 0
	for _, check := range checks {
		if check.inHome && !d.exists {
			continue
		}
		for _, f := range check.look(d) {
			f.Check = check.name
			if f.State == stateWrong {
				bad++
			}
			if err := cmd.print(a, f); err != nil {
				return err
			}
		}
	}
	if bad > 0 {
		return &exitError{exitFailed, wrongText(bad)}
	}
	return nil
}

func (cmd *doctorCommand) print(a *app, f finding) error {
	if cmd.Output == "json" {
		f.Help = a.advice(f.Help)
		return writeJSON(a.stdout, f)
	}
	_, err := fmt.Fprintf(a.stdout, "%-5s  %s: %s\n", f.State, f.Check, safeLine(f.What))
	for line := range strings.Lines(a.advice(f.Help)) {
		if err == nil {
			_, err = fmt.Fprintf(a.stdout, "       %s\n", safeLine(strings.TrimSuffix(line, "\n")))
		}
	}
	return err
}

// doctor looks at a home. It writes nothing but a probe, which it removes.
type doctor struct {
	*app
	fs     journal.FS
	exists bool   // the home is a directory
	above  string // the home, or the nearest directory above that exists

	files      []found
	unreadable []error
}

// found is a file or a directory of the home, the home itself among them.
type found struct {
	path string
	info fs.FileInfo
}

func newDoctor(a *app) *doctor {
	d := &doctor{app: a, fs: journal.OS, exists: isDirectory(a.home), above: a.home}
	for !isDirectory(d.above) && filepath.Dir(d.above) != d.above {
		d.above = filepath.Dir(d.above)
	}
	if d.exists {
		d.walk()
	}
	return d
}

// walk finds what is in the home. What somebody removes meanwhile is not there.
func (d *doctor) walk() {
	root := d.home
	if real, err := filepath.EvalSymlinks(root); err == nil {
		root = real
	}
	filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		var info fs.FileInfo
		if err == nil {
			info, err = entry.Info()
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			d.unreadable = append(d.unreadable, err)
		case info.IsDir() || info.Mode().IsRegular():
			d.files = append(d.files, found{path, info})
		}
		return nil
	})
}

func (d *doctor) checkHome() []finding {
	_, err := os.Stat(d.home)
	switch {
	case d.exists:
		return []finding{homeText(d.home)}
	case err == nil:
		err = &fs.PathError{Op: "open", Path: d.home, Err: syscall.ENOTDIR}
	case errors.Is(err, fs.ErrNotExist):
		if err = mayWrite(d.above); err == nil {
			return []finding{homeToComeText(d.home)}
		}
	}
	return []finding{homeWrongText(err)}
}

func (d *doctor) checkNetwork() []finding {
	if kind := d.networkFS(d.home); kind != "" {
		return []finding{sharedText(d.home, kind)}
	}
	return []finding{fine(textNotShared)}
}

// probe is the path of a file that nobody else uses.
func (d *doctor) probe(kind string) string {
	return filepath.Join(d.home, fmt.Sprintf(".doctor-%d-%s.tmp", os.Getpid(), kind))
}

// checkLocks takes a lock, and tries to take it again.
func (d *doctor) checkLocks() []finding {
	path := d.probe("lock")
	defer d.fs.Remove(path)
	unlock, err := d.fs.Lock(path)
	if err != nil {
		return []finding{noLockText(err)}
	}
	defer unlock()
	again, err := d.fs.Lock(path)
	switch {
	case err == nil:
		again()
		return []finding{lockTwiceText(d.home)}
	case !errors.Is(err, journal.ErrLocked):
		return []finding{noLockText(err)}
	}
	return []finding{fine(textLocksHold)}
}

// checkDisk does what keeping a session takes.
func (d *doctor) checkDisk() []finding {
	from, to := d.probe("old"), d.probe("new")
	caseMatters, err := d.tryDisk(from, to)
	for _, path := range []string{from, to} {
		if e := d.fs.Remove(path); e != nil && !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	if err != nil {
		return []finding{diskWrongText(err)}
	}
	return []finding{diskText(caseMatters)}
}

// tryDisk writes, syncs and renames a file. It reports whether names that
// differ in case are of different files.
func (d *doctor) tryDisk(from, to string) (caseMatters bool, err error) {
	f, err := d.fs.OpenFile(from, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return false, err
	}
	_, err = f.Write([]byte("written by agent-chatter doctor\n"))
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return false, err
	}
	// Crash here, or behind the rename, leaves a *.tmp that nobody reads.
	if err := d.fs.Rename(from, to); err != nil {
		return false, err
	}
	if err := d.fs.SyncDir(d.home); err != nil {
		return false, err
	}
	_, err = d.fs.Stat(filepath.Join(d.home, strings.ToUpper(filepath.Base(to))))
	return err != nil, nil
}

// What is too little on a disk, and what is little: bytes and inodes.
const (
	tooFewBytes, fewBytes   = 100 << 20, 1 << 30
	tooFewInodes, fewInodes = 1_000, 10_000
)

func (d *doctor) checkSpace() []finding {
	bytes, inodes, err := space(d.above)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return nil
	case err != nil:
		return []finding{noSpaceText(err)}
	}
	return []finding{spaceFinding(bytes, inodes)}
}

func spaceFinding(bytes, inodes uint64) finding {
	left := spaceText(bytes, inodes)
	switch {
	case bytes < tooFewBytes || inodes < tooFewInodes:
		return wrong(left, textMakeRoom)
	case bytes < fewBytes || inodes < fewInodes:
		return note(left, textMakeRoom)
	}
	return fine(left)
}

// usage is how much of what this user may have is used.
type usage struct{ used, limit int }

// scarce reports whether less than a tenth is left.
func (u usage) scarce() bool { return u.used*10 > u.limit*9 }

func (d *doctor) checkWatches() []finding {
	instances, watches, err := inotify()
	switch {
	case err != nil:
		return nil // it works without; and not every system has it
	case instances.scarce() || watches.scarce():
		return []finding{fewWatchesText(instances, watches)}
	}
	return []finding{watchesText(instances, watches)}
}

func (d *doctor) checkConfig() []finding {
	if _, err := d.config(); err != nil {
		return []finding{configWrongText(err)}
	}
	if _, err := os.Stat(filepath.Join(d.home, "config.json")); err != nil {
		return []finding{fine(textNoConfig)}
	}
	return []finding{fine(textConfig)}
}

func (d *doctor) checkSessions() []finding {
	c := catalog.New(filepath.Join(d.home, "sessions"), journal.Options{FS: lookOnly{d.fs}})
	teams, err := c.Teams()
	if err != nil {
		return []finding{unreadableText(err)}
	}
	var all []finding
	for _, t := range teams {
		all = append(all, checkTeam(t)...)
	}
	if len(all) == 0 {
		return []finding{fine(textNoSessions)}
	}
	return all
}

// checkTeam looks at what the index does not remember, and at the end of each
// journal.
func checkTeam(t *catalog.Dir) []finding {
	sessions, err := t.List()
	if err != nil {
		return []finding{unreadableText(err)}
	}
	if len(sessions) == 0 {
		return nil
	}
	all := []finding{sessionsText(filepath.Base(t.Journals().Path()), len(sessions))}
	for _, s := range sessions {
		if s.Damaged == "" {
			if err := t.Journals().Check(s.ID); err != nil && !errors.Is(err, journal.ErrNotFound) {
				s = failed(s, err)
			}
		}
		switch {
		case s.ReadErr != nil:
			all = append(all, unreadableText(s.ReadErr))
		case s.Damaged != "":
			all = append(all, damagedText(s))
		}
	}
	return all
}

func (d *doctor) checkLeftovers() []finding {
	n, bytes := 0, int64(0)
	for _, f := range d.files {
		if f.info.Mode().IsRegular() && strings.HasSuffix(f.path, ".tmp") {
			n, bytes = n+1, bytes+f.info.Size()
		}
	}
	if n > 0 {
		return []finding{leftoversText(d.home, n, bytes)}
	}
	return []finding{fine(textNoLeftovers)}
}

func (d *doctor) checkTrash() []finding {
	teams, err := d.catalog().Teams()
	if err != nil {
		return nil // said of the sessions
	}
	n, bytes := 0, int64(0)
	for _, t := range teams {
		trashed, err := t.Journals().ListTrash()
		if err != nil {
			return []finding{unreadableText(err)}
		}
		for _, item := range trashed {
			n, bytes = n+1, bytes+item.Bytes
		}
	}
	if n > 0 {
		return []finding{trashText(n, bytes)}
	}
	return []finding{fine(textNoTrash)}
}

// checkAgents looks for the programs of the registered agents. The demo team
// needs none.
func (d *doctor) checkAgents() []finding {
	agents, err := team.RegisteredAgents(d.home)
	if err != nil {
		return []finding{registryWrongText(err)}
	}
	all := []finding{agentsText(len(agents))}
	for _, agent := range agents {
		if _, err := exec.LookPath(agent.Command); err != nil {
			all = append(all, noProgramText(d.home, agent, err))
		}
	}
	return all
}

// lookOnly is a file system on which nothing is changed.
type lookOnly struct{ journal.FS }

func (l lookOnly) OpenFile(name string, flag int, perm fs.FileMode) (journal.File, error) {
	if flag != os.O_RDONLY {
		return nil, refused("open", name)
	}
	return l.FS.OpenFile(name, flag, perm)
}

func (lookOnly) Mkdir(name string, _ fs.FileMode) error { return refused("mkdir", name) }
func (lookOnly) Rename(name, _ string) error            { return refused("rename", name) }
func (lookOnly) Remove(name string) error               { return refused("remove", name) }
func (lookOnly) Lock(name string) (func() error, error) { return nil, refused("lock", name) }

func refused(op, name string) error {
	return &fs.PathError{Op: op, Path: name, Err: syscall.EROFS}
}
