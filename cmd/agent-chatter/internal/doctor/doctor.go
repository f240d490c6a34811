package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/home"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/host"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/spending"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/web"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

// Doctor is the command that checks the home and what it depends on.
type Doctor struct {
	Output string `help:"Output format: ${enum}." enum:"text,json" default:"text"`
}

// Help shows examples.
func (Doctor) Help() string {
	return `Examples:
  agent-chatter doctor
  agent-chatter doctor --output json | jq 'select(.state != "ok")'`
}

// checks are the checks of doctor, in order.
var checks = []struct {
	name      string
	needsHome bool // skipped if the home does not exist
	run       func(*doctor) []app.Finding
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
	{"files", true, (*doctor).checkFiles},
	{"worktrees", true, (*doctor).checkWorktrees},
	{"agents", false, (*doctor).checkAgents},
	{"trust.json", false, (*doctor).checkTrust},
	{"devices", true, (*doctor).checkDevices},
	{"id", true, (*doctor).checkKey},
	{"teams", false, (*doctor).checkTeams},
	{"web browser", false, (*doctor).checkWebBrowser},
	{"hub", false, (*doctor).checkHub},
	{"acp", false, (*doctor).checkACP},
	{"mcp", false, (*doctor).checkMCP},
}

// Run implements the command.
func (cmd *Doctor) Run(a *app.App) error {
	ctx, stop := app.UntilSignal()
	defer stop()
	d := newDoctor(ctx, a)
	var names []string
	for _, check := range checks {
		names = append(names, check.name)
	}
	list := view.FindingsOnTerminal(a, cmd.Output, names...)
	done, found := 0, map[app.State]int{}
	for _, check := range checks {
		if check.needsHome && !d.exists {
			continue
		}
		end := a.Begin("Checking " + check.name)
		findings := check.run(d)
		end()
		if err := ctx.Err(); err != nil {
			return err
		}
		done++
		for _, f := range findings {
			f.Check = check.name
			found[f.State]++
			if err := cmd.print(a, list, f); err != nil {
				return err
			}
		}
	}
	var err error
	problems := found[app.StateWrong]
	if problems > 0 {
		err = app.Exit(app.ExitFailed, app.Message{Text: problemsText(problems)})
	}
	return list.End(checkedText(done, problems, found[app.StateNote]), err)
}

func (cmd *Doctor) print(a *app.App, list *view.Findings, f app.Finding) error {
	switch {
	case list != nil:
		return list.Add(f)
	case cmd.Output == "json":
		return app.WriteJSON(a.Stdout, a.Resolve(f))
	}
	return app.WriteFinding(a.Stdout, f.Check, a.Resolve(f))
}

// A doctor checks a home. It writes only temporary files, and removes them.
type doctor struct {
	*app.App
	ctx      context.Context // ends the checks
	fs       vfs.FS
	exists   bool   // the home is a directory
	existing string // the home, or its nearest ancestor that exists
	run      uint32 // a random number in the names of the temporary files

	files      []homeFile // the home and what it contains, directories first
	unreadable []error
}

// homeFile is a regular file or a directory of the home.
type homeFile struct {
	path string
	info fs.FileInfo
}

func newDoctor(ctx context.Context, a *app.App) *doctor {
	d := &doctor{App: a, ctx: ctx, fs: vfs.OS, exists: app.IsDirectory(a.Home), existing: a.Home,
		run: rand.Uint32()}
	for !app.IsDirectory(d.existing) && filepath.Dir(d.existing) != d.existing {
		d.existing = filepath.Dir(d.existing)
	}
	if d.exists {
		d.walk()
	}
	return d
}

// walk finds the files of the home, except those that are removed meanwhile, and those in the worktrees of members.
func (d *doctor) walk() {
	root := d.Home
	if target, err := filepath.EvalSymlinks(root); err == nil {
		root = target
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
		case info.IsDir() && filepath.Dir(filepath.Dir(path)) == filepath.Join(root, "worktrees"):
			return fs.SkipDir
		case info.IsDir() || info.Mode().IsRegular():
			d.files = append(d.files, homeFile{path, info})
		}
		return d.ctx.Err()
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
		if err = checkWritable(d.existing); err == nil {
			return []app.Finding{newHomeText(d.Home)}
		}
	}
	return []app.Finding{invalidHomeText(err)}
}

func (d *doctor) checkNetwork() []app.Finding {
	if kind := d.NetworkFS(d.Home); kind != "" {
		return []app.Finding{app.NetworkText(d.Home, kind)}
	}
	return []app.Finding{app.Fine(textLocal)}
}

func (d *doctor) checkConfig() []app.Finding {
	config, err := d.Config()
	if err != nil {
		return []app.Finding{invalidConfigText(err)}
	}
	found := []app.Finding{app.Fine(textConfig)}
	if _, err := os.Stat(filepath.Join(d.Home, "config.json")); err != nil {
		found[0] = app.Fine(textNoConfig)
	}
	path := filepath.Join(d.Home, spending.DayFile)
	if day, err := spending.LaterDay(d.Home, time.Now()); err != nil || day != "" {
		found = append(found, dayText(path, day, err))
	}
	if slices.Contains(config.Notify, home.NotifyDesktop) {
		if program := host.NotifyProgram(); !isInstalled(program) {
			found = append(found, notifyText(program))
		}
	}
	return found
}

func isInstalled(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

// notifyText is for a program that notify of config.json needs.
func notifyText(program string) app.Finding {
	return app.Note("notify of config.json has \"desktop\", but "+program+" is not installed",
		"A chat shows no notification of the desktop.", app.To("choose other ways", "guide", "configuration"))
}

// dayText is for a file that counts for a later day, or cannot be read.
func dayText(path, day string, err error) app.Finding {
	remove := app.ToRun("count from what the journals have of today", "rm", "--", path)
	if err != nil {
		return app.Wrong(tty.SafeLine(path)+": "+app.Reason(err), "No turn starts under a limit of a day.", remove)
	}
	return app.Note(tty.SafeLine(path)+" counts for "+day+": the clock was set back, or the time zone changed",
		"A limit of a day holds until the day after that.", remove)
}

// checkAgents checks that the programs of the registered agents exist, and names known agents that were not tried.
func (d *doctor) checkAgents() []app.Finding {
	agents, err := team.RegisteredAgents(d.Home)
	if err != nil {
		return []app.Finding{invalidRegistryText(err)}
	}
	all := []app.Finding{agentsText(len(agents))}
	for _, agent := range agents {
		if _, err := exec.LookPath(agent.Command); err != nil {
			all = append(all, missingProgramText(d.Home, agent, err))
		}
	}
	return append(all, untriedAgents()...)
}

// checkTrust checks that the list of confirmed teams is readable: without it, each one needs -t.
func (d *doctor) checkTrust() []app.Finding {
	trusted, err := team.ReadTrust(d.Home)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return []app.Finding{app.Fine(textNoTrust)}
	case err != nil:
		return []app.Finding{invalidTrustText(err)}
	}
	return []app.Finding{app.Fine(app.Count(len(trusted), "team file") + " may run without confirmation")}
}

const (
	textNoTrust  = "there is none; -t creates it"
	textLocal    = "the file system is local, as far as the system reports"
	textNoConfig = "there is none; the defaults apply"
	textConfig   = "it is valid"
)

// checkedText is the last line on a terminal.
func checkedText(checks, problems, notes int) string {
	text := app.Count(checks, "check") + ": no problem"
	if problems > 0 {
		text = app.Count(checks, "check") + ": " + app.Count(problems, "problem")
	}
	if notes > 0 {
		text += ", " + app.Count(notes, "note")
	}
	return text + "."
}

func problemsText(n int) string { return "Found " + app.Count(n, "problem") + "." }

func homeText(home string) app.Finding { return app.Fine(tty.SafeLine(home)) }

// newHomeText is for a home that does not exist yet.
func newHomeText(home string) app.Finding {
	return app.Note(tty.SafeLine(home)+" does not exist yet; nothing was written to it",
		"The first message of a chat creates it.")
}

func invalidHomeText(err error) app.Finding {
	return app.Wrong(app.Sentence(err), "Check its permissions, or use another directory with --home DIR.")
}

func invalidConfigText(err error) app.Finding {
	return app.Wrong(app.Sentence(err), app.TextCorrectConfig, app.ToListSettings)
}

func invalidRegistryText(err error) app.Finding {
	return app.Wrong(app.Sentence(err), "Correct it, or move it away to start without registered agents.")
}

func invalidTrustText(err error) app.Finding {
	return app.Wrong(app.Sentence(err),
		"Correct it or move it away. The teams of your sessions are then trusted again.")
}

func agentsText(n int) app.Finding {
	return app.Fine(app.Count(n, "registered agent") + " for all teams; the demo team needs no program")
}

func missingProgramText(home string, missing team.Agent, err error) app.Finding {
	return app.Wrong(
		fmt.Sprintf("the agent %s cannot be run: %s", tty.SafeLine(missing.Name), tty.SafeLine(err.Error())),
		fmt.Sprintf("Install %s, or correct its command in %s",
			tty.SafeLine(missing.Command), tty.SafeLine(filepath.Join(home, "agents", "config.json"))),
	)
}

// checkWebBrowser checks that serve --open can open the web browser, if there is a desktop.
func (d *doctor) checkWebBrowser() []app.Finding {
	name, err := web.FindBrowser()
	if !web.HasDesktop() {
		return nil
	}
	if err != nil {
		return []app.Finding{noOpenerText(name)}
	}
	return []app.Finding{openerText(name)}
}

func openerText(name string) app.Finding { return app.Fine(name + " opens the pages of serve") }

func noOpenerText(name string) app.Finding {
	return app.Note(name+" was not found: serve --open cannot open the web browser", "serve prints the address anyway")
}
