package maintain

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

type Doctor struct {
	Output string `help:"What is printed: ${enum}." enum:"text,json" default:"text"`
}

// Help shows examples first.
func (Doctor) Help() string {
	return `Examples:
  agent-chatter doctor
  agent-chatter doctor --output json | jq 'select(.state != "ok")'`
}

// checks are what doctor looks at, one after another.
var checks = []struct {
	name   string
	inHome bool // there is nothing to look at without one
	look   func(*doctor) []app.Finding
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
func (cmd *Doctor) Run(a *app.App) error {
	d := newDoctor(a)
	bad := 0
	for _, check := range checks {
		if check.inHome && !d.exists {
			continue
		}
		for _, f := range check.look(d) {
			f.Check = check.name
			f = a.Resolve(f)
			if f.State == app.StateWrong {
				bad++
			}
			if err := cmd.print(a, f); err != nil {
				return err
			}
		}
	}
	if bad > 0 {
		return app.Exit(app.ExitFailed, app.Message{Text: wrongText(bad)})
	}
	return nil
}

func (cmd *Doctor) print(a *app.App, f app.Finding) error {
	if cmd.Output == "json" {
		return app.WriteJSON(a.Stdout, f)
	}
	_, err := fmt.Fprintf(a.Stdout, "%-5s  %s: %s\n", f.State, f.Check, tty.SafeLine(f.What))
	for line := range strings.Lines(f.Help) {
		if err == nil {
			_, err = fmt.Fprintf(a.Stdout, "       %s\n", tty.SafeLine(strings.TrimSuffix(line, "\n")))
		}
	}
	return err
}

// doctor looks at a home. It writes nothing but a probe, which it removes.
type doctor struct {
	*app.App
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

func newDoctor(a *app.App) *doctor {
	d := &doctor{App: a, fs: journal.OS, exists: app.IsDirectory(a.Home), above: a.Home}
	for !app.IsDirectory(d.above) && filepath.Dir(d.above) != d.above {
		d.above = filepath.Dir(d.above)
	}
	if d.exists {
		d.walk()
	}
	return d
}

// walk finds what is in the home. What somebody removes meanwhile is not there.
func (d *doctor) walk() {
	root := d.Home
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

func (d *doctor) checkHome() []app.Finding {
	_, err := os.Stat(d.Home)
	switch {
	case d.exists:
		return []app.Finding{homeText(d.Home)}
	case err == nil:
		err = &fs.PathError{Op: "open", Path: d.Home, Err: syscall.ENOTDIR}
	case errors.Is(err, fs.ErrNotExist):
		if err = mayWrite(d.above); err == nil {
			return []app.Finding{homeToComeText(d.Home)}
		}
	}
	return []app.Finding{homeWrongText(err)}
}

func (d *doctor) checkNetwork() []app.Finding {
	if kind := d.NetworkFS(d.Home); kind != "" {
		return []app.Finding{app.NetworkText(d.Home, kind)}
	}
	return []app.Finding{app.Fine(textNotShared)}
}

// probe is the path of a file that nobody else uses.
func (d *doctor) probe(kind string) string {
	return filepath.Join(d.Home, fmt.Sprintf(".doctor-%d-%s.tmp", os.Getpid(), kind))
}

// checkLocks takes a lock, and tries to take it again.
func (d *doctor) checkLocks() []app.Finding {
	path := d.probe("lock")
	defer d.fs.Remove(path)
	unlock, err := d.fs.Lock(path)
	if err != nil {
		return []app.Finding{noLockText(err)}
	}
	defer unlock()
	again, err := d.fs.Lock(path)
	switch {
	case err == nil:
		again()
		return []app.Finding{lockTwiceText(d.Home)}
	case !errors.Is(err, journal.ErrLocked):
		return []app.Finding{noLockText(err)}
	}
	return []app.Finding{app.Fine(textLocksHold)}
}

// checkDisk does what keeping a session takes.
func (d *doctor) checkDisk() []app.Finding {
	from, to := d.probe("old"), d.probe("new")
	caseMatters, err := d.tryDisk(from, to)
	for _, path := range []string{from, to} {
		if e := d.fs.Remove(path); e != nil && !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	if err != nil {
		return []app.Finding{diskWrongText(err)}
	}
	return []app.Finding{diskText(caseMatters)}
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
	if err := d.fs.SyncDir(d.Home); err != nil {
		return false, err
	}
	_, err = d.fs.Stat(filepath.Join(d.Home, strings.ToUpper(filepath.Base(to))))
	return err != nil, nil
}

// What is too little on a disk, and what is little: bytes and inodes.
const (
	tooFewBytes, fewBytes   = 100 << 20, 1 << 30
	tooFewInodes, fewInodes = 1_000, 10_000
)

func (d *doctor) checkSpace() []app.Finding {
	bytes, inodes, err := space(d.above)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return nil
	case err != nil:
		return []app.Finding{noSpaceText(err)}
	}
	return []app.Finding{spaceFinding(bytes, inodes)}
}

func spaceFinding(bytes, inodes uint64) app.Finding {
	left := spaceText(bytes, inodes)
	switch {
	case bytes < tooFewBytes || inodes < tooFewInodes:
		return app.Wrong(left, "", makeRoom...)
	case bytes < fewBytes || inodes < fewInodes:
		return app.Note(left, "", makeRoom...)
	}
	return app.Fine(left)
}

// usage is how much of what this user may have is used.
type usage struct{ used, limit int }

// scarce reports whether less than a tenth is left.
func (u usage) scarce() bool { return u.used*10 > u.limit*9 }

func (d *doctor) checkWatches() []app.Finding {
	instances, watches, err := inotify()
	switch {
	case err != nil:
		return nil // it works without; and not every system has it
	case instances.scarce() || watches.scarce():
		return []app.Finding{fewWatchesText(instances, watches)}
	}
	return []app.Finding{watchesText(instances, watches)}
}

func (d *doctor) checkConfig() []app.Finding {
	if _, err := d.Config(); err != nil {
		return []app.Finding{configWrongText(err)}
	}
	if _, err := os.Stat(filepath.Join(d.Home, "config.json")); err != nil {
		return []app.Finding{app.Fine(textNoConfig)}
	}
	return []app.Finding{app.Fine(textConfig)}
}

func (d *doctor) checkSessions() []app.Finding {
	c := catalog.New(filepath.Join(d.Home, "sessions"), journal.Options{FS: lookOnly{d.fs}})
	teams, err := c.Teams()
	if err != nil {
		return []app.Finding{unreadableText(err)}
	}
	var all []app.Finding
	for _, t := range teams {
		all = append(all, checkTeam(t)...)
	}
	if len(all) == 0 {
		return []app.Finding{app.Fine(textNoSessions)}
	}
	return all
}

// checkTeam looks at what the index does not remember, and at the end of each
// journal.
func checkTeam(t *catalog.Dir) []app.Finding {
	list, err := t.List(context.Background(), catalog.Query{})
	if err != nil {
		return []app.Finding{unreadableText(err)}
	}
	sessions := list.Sessions
	if len(sessions) == 0 {
		return nil
	}
	all := []app.Finding{sessionsText(filepath.Base(t.Journals().Path()), len(sessions))}
	for _, s := range sessions {
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
		}
	}
	return all
}

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
		return nil // said of the sessions
	}
	n, bytes := 0, int64(0)
	for _, t := range teams {
		trashed, err := t.Journals().ListTrash()
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
	return []app.Finding{app.Fine(textNoTrash)}
}

// checkAgents looks for the programs of the registered agents. The demo team
// needs none.
func (d *doctor) checkAgents() []app.Finding {
	agents, err := team.RegisteredAgents(d.Home)
	if err != nil {
		return []app.Finding{registryWrongText(err)}
	}
	all := []app.Finding{agentsText(len(agents))}
	for _, agent := range agents {
		if _, err := exec.LookPath(agent.Command); err != nil {
			all = append(all, noProgramText(d.Home, agent, err))
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

func (lookOnly) Rename(name, _ string) error { return refused("rename", name) }

func (lookOnly) Remove(name string) error { return refused("remove", name) }

func (lookOnly) Lock(name string) (func() error, error) { return nil, refused("lock", name) }

func refused(op, name string) error {
	return &fs.PathError{Op: op, Path: name, Err: syscall.EROFS}
}

// What doctor finds.
const (
	textNotShared   = "no other machine shares the files, as far as this one knows"
	textLocksHold   = "they hold; one that a crashed program has left holds nobody up"
	textNoConfig    = "there is none, and none is needed"
	textConfig      = "it is valid"
	textNoSessions  = "there are none yet"
	textNoLeftovers = "there are no unfinished files"
	textNoTrash     = "it is empty"
)

var makeRoom = []app.Help{
	app.To("archive old sessions", "compact"),
	app.To("preview what can be deleted", "sessions", "clean", "--dry-run"),
}

func wrongText(n int) string {
	if n == 1 {
		return "1 thing is wrong."
	}
	return fmt.Sprintf("%d things are wrong.", n)
}

func homeText(home string) app.Finding { return app.Fine(tty.SafeLine(home)) }

func homeToComeText(home string) app.Finding {
	return app.Note(tty.SafeLine(home)+" does not exist yet; nothing was written to try it out", "The first message of a chat makes it.")
}

func homeWrongText(err error) app.Finding {
	return app.Wrong(app.Sentence(err), "Check who may read and write there, or name another place with --home DIR.")
}

func privateText() app.Finding { return app.Fine("what is there is yours, and only you can read it") }

// openText says who else gets at so many files, one of which is named.
func openText(home string, n int, who, path string, mode fs.FileMode) app.Finding {
	return app.Wrong(fmt.Sprintf("%s open to %s, such as %s (%04o)", areFiles(n), who, tty.SafeLine(path), mode.Perm()),
		"", app.ToRun("close them", "chmod", "-R", "go=", home))
}

// hiddenText is openText where nobody gets to the files.
func hiddenText(home string, n int, path string, mode fs.FileMode) app.Finding {
	return app.Note(fmt.Sprintf("nobody else gets in, but %s would be open if the home were, such as %s (%04o)", files(n), tty.SafeLine(path), mode.Perm()),
		"", app.ToRun("close them", "chmod", "-R", "go=", home))
}

func foreignText(home string, n, owner int, path string) app.Finding {
	return app.Wrong(fmt.Sprintf("%s not yours, such as %s, of user %d", areFiles(n), tty.SafeLine(path), owner),
		"", app.ToRun("take ownership", "sudo", "chown", "-R", strconv.Itoa(os.Getuid()), home))
}

func closedText(home string, n int, path string, mode fs.FileMode) app.Finding {
	return app.Wrong(fmt.Sprintf("%s closed to yourself, such as %s (%04o)", areFiles(n), tty.SafeLine(path), mode.Perm()),
		"", app.ToRun("open them", "chmod", "-R", "u+rwX", home))
}

func files(n int) string {
	if n == 1 {
		return "1 file or directory"
	}
	return fmt.Sprintf("%d files and directories", n)
}

func areFiles(n int) string {
	if n == 1 {
		return files(n) + " is"
	}
	return files(n) + " are"
}

func unreadableText(err error) app.Finding {
	return app.Wrong(app.Sentence(err), "Check who may read it, and whether the disk is sound.")
}

func noLockText(err error) app.Finding {
	return app.Wrong("no lock can be taken, so that nothing can be saved: "+tty.SafeLine(err.Error()),
		"Keep the sessions on a disk that can lock, with --home DIR.")
}

func lockTwiceText(home string) app.Finding {
	return app.Wrong("a lock can be taken twice, so that two programs may write to one session",
		fmt.Sprintf("Talk in a session of %s in one program at a time, or keep the sessions elsewhere with --home DIR.", tty.SafeLine(home)))
}

func diskWrongText(err error) app.Finding {
	help := strings.TrimPrefix(app.Remedy(err), "\n")
	if help == "" {
		help = "Nothing can be saved there. Check the disk, or name another place with --home DIR."
	}
	return app.Wrong("a file cannot be written, synced, renamed and removed: "+tty.SafeLine(err.Error()), help)
}

func diskText(caseMatters bool) app.Finding {
	if caseMatters {
		return app.Fine("files are written, synced and renamed; case matters in their names")
	}
	return app.Fine("files are written, synced and renamed; case does not matter in their names, and no two teams share a directory all the same")
}

// spaceText says how much is left.
func spaceText(bytes, inodes uint64) string {
	left := bytesText(bytes) + " are free"
	if inodes != math.MaxUint64 {
		left += fmt.Sprintf(", and %d inodes", inodes)
	}
	return left
}

func noSpaceText(err error) app.Finding {
	return app.Note("how much is free is not known: "+tty.SafeLine(err.Error()), "")
}

// bytesText is a number of bytes as people read it.
func bytesText(n uint64) string {
	if n < 1<<10 {
		return app.Count(int(n), "byte")
	}
	size, unit := float64(n), ""
	for _, unit = range []string{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"} {
		if size /= 1 << 10; size < 1<<10 {
			break
		}
	}
	return fmt.Sprintf("%.1f %s", size, unit)
}

func watchesText(instances, watches usage) app.Finding {
	return app.Fine(fmt.Sprintf("%d of %d inotify instances and %d of %d watches are used", instances.used, instances.limit, watches.used, watches.limit))
}

func fewWatchesText(instances, watches usage) app.Finding {
	return app.Note(watchesText(instances, watches).What+"; without them tail -f looks four times a second instead of being woken",
		"", app.ToRun("raise the limits", "sudo", "sysctl", fmt.Sprintf("fs.inotify.max_user_instances=%d", 2*instances.limit), fmt.Sprintf("fs.inotify.max_user_watches=%d", 2*watches.limit)))
}

func configWrongText(err error) app.Finding {
	return app.Wrong(app.Sentence(err), app.TextCorrectConfig, app.ToListSettings)
}

func registryWrongText(err error) app.Finding {
	return app.Wrong(app.Sentence(err), "Correct it, or move it away: then no agent is registered.")
}

func sessionsText(dir string, n int) app.Finding {
	return app.Finding{State: app.StateOK, What: fmt.Sprintf("%s in %s", app.Count(n, "session"), tty.SafeLine(dir)), Commands: []app.Help{app.To("check every line", "verify")}}
}

func damagedText(s catalog.Session) app.Finding {
	help := app.DamageHelp(s, nil)
	return app.Wrong(fmt.Sprintf("session %s is damaged: %s", s.ID, tty.SafeLine(s.Damaged)), help.Text, help.Help...)
}

func leftoversText(home string, n int, bytes int64) app.Finding {
	return app.Note(fmt.Sprintf("%s that a crash has left (%s); nobody reads them", app.Count(n, "unfinished file"), bytesText(uint64(bytes))),
		"", app.ToRun("remove them while no agent-chatter runs", "find", home, "-name", "*.tmp", "-type", "f", "-delete"))
}

func trashText(n int, bytes int64) app.Finding {
	return app.Finding{State: app.StateOK, What: fmt.Sprintf("%s (%s)", app.Count(n, "session"), bytesText(uint64(bytes))), Commands: []app.Help{app.To("preview its cleaning", "sessions", "clean", "--dry-run")}}
}

func agentsText(n int) app.Finding {
	return app.Fine(fmt.Sprintf("%s for all teams; the demo team needs no program", app.Count(n, "registered agent")))
}

func noProgramText(home string, missing team.Agent, err error) app.Finding {
	return app.Wrong(fmt.Sprintf("the agent %s cannot be run: %s", tty.SafeLine(missing.Name), tty.SafeLine(err.Error())),
		fmt.Sprintf("Install %s, or correct its command in %s", tty.SafeLine(missing.Command), tty.SafeLine(filepath.Join(home, "agents", "config.json"))))
}
