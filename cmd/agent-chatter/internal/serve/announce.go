package serve

import (
	"fmt"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/devices"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/home"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
)

// announce prints the address of the page, and what a device needs that is to be paired.
func (cmd *Command) announce(a *app.App, p *pairing, address string, directories []string) error {
	if cmd.Output == "json" {
		return app.WriteJSON(a.Stdout, cmd.announced(p, address))
	}
	if _, err := fmt.Fprintln(a.Stdout, address); err != nil {
		return err
	}
	a.Notice(servedText(p.server.tokenHere, directories))
	if own := p.server.authority; own != nil && (p.server.created || cmd.Pair) {
		a.Notice(authorityText(p.server.origin, own.Fingerprint()))
	}
	if cmd.Pair {
		cmd.offer(a, p)
	}
	return nil
}

// announced returns what announce prints as JSON.
func (cmd *Command) announced(p *pairing, address string) map[string]string {
	s := p.server
	all := map[string]string{"address": address, "origin": s.origin, "token": s.token}
	if cmd.Pair {
		all["pair"] = p.address(devices.Grant{Role: cmd.Role})
	}
	if s.authority != nil {
		all["authority"], all["fingerprint"] = s.origin+"/ca", s.authority.Fingerprint()
	}
	return all
}

// offer prints an address that pairs a device, and on a terminal its QR code and another address at each Enter.
func (cmd *Command) offer(a *app.App, p *pairing) {
	cmd.printCode(a, p)
	if !tty.IsTerminal(a.Stdin) {
		return
	}
	a.Notice(textAnother)
	go func() { // it ends with the process
		answers := tty.NewAnswers(a.Stdin)
		for {
			if _, err := answers.Next(); err != nil {
				return
			}
			cmd.printCode(a, p)
		}
	}()
}

// printCode prints a new address. Its lines do not break, so that it can be copied and scanned.
func (cmd *Command) printCode(a *app.App, p *pairing) {
	address := p.address(devices.Grant{Role: cmd.Role})
	text := pairText(string(cmd.Role)) + "\n" + address + "\n"
	if tty.IsTerminal(a.Stderr) {
		text += drawCode(address, !a.NoColor, a.Theme() == home.ThemeLight)
	}
	a.EraseProgress()
	fmt.Fprint(a.Stderr, text)
}

const (
	textAnother = "Press Enter for another address, or Ctrl+C to end."
	textHelp    = "Open the address that agent-chatter serve prints."
	// textPairedOnly is for clients on other machines.
	textPairedOnly = "Only paired devices are admitted from other machines. " +
		"To pair this one, type: agent-chatter serve --chat --pair"
)

// servedText is below the address of the page. directories are those of new conversations; nil: there are none.
func servedText(here bool, directories []string) string {
	text := "Anyone who knows this address can read all sessions. "
	if directories != nil {
		text = "Anyone who knows this address can read all sessions, and let agents work in " +
			tty.SafeLine(strings.Join(directories, ", ")) + ". "
	}
	if here {
		text += "From other machines, only paired devices are admitted. "
	}
	return text + "Press Ctrl+C to end."
}

func authorityText(origin, fingerprint string) string {
	return "A device has to trust the certificate authority of this address once. Open " + origin + "/ca on it, and " +
		"install what it gets if the fingerprint (SHA-256) is\n" + fingerprint + "\n" +
		"To see how, type: agent-chatter guide serve"
}

func pairText(role string) string {
	return "To pair a device with the role " + role + ", open this address on it within " + codeTime + ":"
}

// reachableText is for an address of other hosts without what keeps others out.
func reachableText(address string) app.Message {
	return app.Text("Other hosts can reach %s. It needs --tls-own, or --tls-cert and --tls-key; and --pair or "+
		"--token-file.", tty.SafeLine(address)).With(app.To("read about the ways", "guide", "serve"))
}

// noHostText is for an address that does not say for what a certificate is.
func noHostText(addresses []string) app.Message {
	text := "--tls-own needs the address that devices use, such as --addr 192.168.1.20:8443."
	if len(addresses) > 0 {
		text += "\nThis machine has " + strings.Join(addresses, ", ") + "."
	}
	return app.Text("%s", text)
}

func sharedKeyText(path string) app.Message {
	return app.Text("Other users can read the key in %s.", tty.SafeLine(path)).
		With(app.ToRun("make it private", "chmod", "600", path))
}

func notOpenedText(err error) string {
	return "No web browser was opened: " + app.Reason(err) + "\nOpen the address above."
}
