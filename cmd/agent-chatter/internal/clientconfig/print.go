package clientconfig

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"unicode/utf8"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/home"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
)

// PrintACP prints the Setup of an editor for the command acp. teamName is that of its flag --team; "" is unset.
func PrintACP(a *app.App, editor, teamName string) error {
	args := []string{"acp"}
	if teamName != "" {
		f, err := team.Find(teamName, a.Places())
		if err != nil {
			return err
		}
		if f.Origin == team.FoundByPath { // the editor starts the program in another directory
			teamName = f.Path
		}
		args = append(args, "--team", teamName)
	}
	c, err := self(a, args)
	if err != nil {
		return err
	}
	return write(a, ACP(editor, c), "acp")
}

// PrintMCP prints the Setup of an agent for the command mcp with args.
func PrintMCP(a *app.App, agent string, args ...string) error {
	c, err := self(a, append([]string{"mcp"}, args...))
	if err != nil {
		return err
	}
	return write(a, MCP(agent, c, runtime.GOOS != "windows"), "mcp")
}

// write writes what is pasted to standard output, so that a pipe has nothing else.
func write(a *app.App, s Setup, topic string) error {
	if _, err := fmt.Fprint(a.Stdout, s.Text); err != nil {
		return err
	}
	a.Notice(s.Where, app.To("read how to use it", "guide", topic))
	return nil
}

var errNoPath = errors.New("the system does not know the path of this program")

// self returns the Command that starts this program with args and the global flags of this run.
func self(a *app.App, args []string) (Command, error) {
	if a.Program == "" {
		return Command{}, errNoPath
	}
	c := Command{Path: installed(a.Program, os.Args[0])}
	if usual, err := home.Dir(""); err != nil || a.Home != usual {
		c.Args = append(c.Args, "--home", a.Home)
	}
	if a.Remote != nil && a.Remote.URLs != "" {
		c.Args = append(c.Args, "--hub", a.Remote.URLs)
	}
	if a.Remote != nil && a.Remote.Offline {
		c.Args = append(c.Args, "--offline")
	}
	c.Args = append(c.Args, args...)
	return c, c.check()
}

// installed returns the path with which a user starts the program: that of a symbolic link survives an update, which
// may remove the file that it leads to. typed is the first argument of the process.
func installed(executable, typed string) string {
	program, err := os.Stat(executable)
	if err != nil {
		return executable
	}
	for _, name := range []string{filepath.Base(typed), typed} {
		found, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		path, err := filepath.Abs(found)
		if err != nil {
			continue
		}
		if info, err := os.Stat(path); err == nil && os.SameFile(info, program) {
			return path
		}
	}
	return executable
}

// check returns an error if no client can start c later.
func (c Command) check() error {
	for _, s := range append([]string{c.Path}, c.Args...) {
		if !utf8.ValidString(s) {
			return app.Exit(app.ExitFailed, notUTF8Text(s))
		}
	}
	if isTemporary(c.Path) {
		return app.Exit(app.ExitFailed, temporaryText(c.Path))
	}
	return nil
}

// isTemporary reports whether the program was built by go run, which removes it.
func isTemporary(path string) bool {
	for dir := range strings.SplitSeq(filepath.ToSlash(path), "/") {
		if strings.HasPrefix(dir, "go-build") {
			return true
		}
	}
	return false
}

func notUTF8Text(s string) app.Message {
	return app.Text("The settings of a client are UTF-8, which cannot name %s.\nRename or move it.", tty.SafeLine(s))
}

// temporaryText is for a program that go run has built.
func temporaryText(path string) app.Message {
	return app.Text("The program %s is temporary: a client could not start it later.", tty.SafeLine(path)).
		With(app.ToRun("install it first", "go", "install", "./cmd/agent-chatter"))
}
