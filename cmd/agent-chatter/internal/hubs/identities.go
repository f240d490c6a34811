package hubs

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/home"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
)

// Identities is the group of commands about the secret keys of the home.
type Identities struct {
	List listIdentities `cmd:"" aliases:"ls" default:"withargs" help:"List the identities and their recipients."`
	New  newIdentity    `cmd:"" help:"Create an identity."`
}

// Help shows examples first.
func (Identities) Help() string {
	return `Examples:
  agent-chatter identities
  agent-chatter identities new laptop`
}

// listIdentities prints the identities and their recipients.
type listIdentities struct {
	Output string `help:"Output format: ${enum}." enum:"text,json" default:"text"`
}

// Help shows examples.
func (listIdentities) Help() string {
	return `Examples:
  agent-chatter identities list`
}

// identityJSON is the JSON output of an identity.
type identityJSON struct {
	Name       string   `json:"name"`
	Recipients []string `json:"recipients"`
}

// Run implements the command.
func (cmd *listIdentities) Run(a *app.App) error {
	all, err := home.ListIdentities(home.IdentitiesDir(a.Home))
	if err != nil {
		return err
	}
	for _, i := range all {
		if cmd.Output == "json" {
			err = app.WriteJSON(a.Stdout, identityJSON{i.Name, i.Recipients})
		} else {
			_, err = fmt.Fprintf(a.Stdout, "%s  %s\n", tty.SafeLine(i.Name), strings.Join(i.Recipients, " "))
		}
		if err != nil {
			return err
		}
	}
	if len(all) == 0 && cmd.Output == "text" {
		a.Show(app.Text("There is no identity.").With(app.To("create one", "identities", "new")))
	}
	return nil
}

// newIdentity creates an identity.
type newIdentity struct {
	Name   string `arg:"" name:"identity" optional:"" help:"Its name (default: the name of the machine)."`
	Output string `help:"Output format: ${enum}." enum:"text,json" default:"text"`
}

// Help shows examples.
func (newIdentity) Help() string {
	return `Examples:
  agent-chatter identities new
  agent-chatter identities new laptop`
}

// Run implements the command. It prints the recipient.
func (cmd *newIdentity) Run(a *app.App) error {
	host, _ := os.Hostname()
	name := cmp.Or(cmd.Name, strings.Split(host, ".")[0], "default")
	recipient, err := home.CreateIdentity(home.IdentitiesDir(a.Home), name, time.Now())
	switch {
	case errors.Is(err, fs.ErrExist):
		return app.Exit(app.ExitFailed, existsText(name))
	case errors.As(err, new(*home.IdentityNameError)):
		return app.UsageError("%s.", app.Sentence(err))
	case err != nil:
		return err
	case cmd.Output == "json":
		return app.WriteJSON(a.Stdout, identityJSON{name, []string{recipient}})
	}
	if _, err := fmt.Fprintln(a.Stdout, recipient); err != nil {
		return err
	}
	a.Notice(createdText(filepath.Join(home.IdentitiesDir(a.Home), name+".txt")))
	return nil
}

// existsText is for a name that is taken.
func existsText(name string) app.Message {
	return app.Text("There is an identity with the name %s.", tty.SafeLine(name)).
		With(app.To("list them", "identities"))
}

// createdText is for a new identity.
func createdText(path string) string {
	return "The identity is in " + tty.SafeLine(path) +
		". Keep a copy elsewhere: without it, nobody can read what was sealed for this recipient alone."
}
