package chat

import (
	"context"
	"errors"
	"net"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/live"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/serve"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// anyPort is the address of a page that only this machine reaches.
const anyPort = "127.0.0.1:0"

// A terminalHost is the host of the conversation of a terminal. It implements api.Hosts.
type terminalHost struct{ *repl }

// Conversation implements api.Hosts.
func (h terminalHost) Conversation(ctx context.Context, key catalog.Key) (c live.Shared, changed <-chan struct{}) {
	if own := h.conversation(key.Name()); own != nil {
		return own, nil
	}
	return elsewhere(ctx, h.app, key), nil
}

// Begin implements api.Hosts. The page belongs to the conversation of the terminal.
func (terminalHost) Begin(context.Context, string, string, live.Input) (catalog.Key, error) {
	return catalog.Key{}, app.Exit(app.ExitUsage, oneConversationText())
}

// Continue implements api.Hosts.
func (h terminalHost) Continue(ctx context.Context, key catalog.Key) error {
	if c, _ := h.Conversation(ctx, key); c != nil {
		return nil
	}
	return app.Exit(app.ExitUsage, oneConversationText())
}

// Directories implements api.Hosts.
func (terminalHost) Directories() []string { return nil }

// Teams implements api.Hosts.
func (terminalHost) Teams(context.Context) []live.Team { return nil }

func oneConversationText() app.Message {
	return app.Text("This page is for the conversation of one terminal.").
		With(app.To("begin and continue others", "serve", "--chat"))
}

// servePage opens the page of the conversation, unless it is open, and prints its address.
func (r *repl) servePage(address string) error {
	switch {
	case r.live == nil:
		return app.Exit(app.ExitFailed, noPageText())
	case !isAddress(address):
		return app.Exit(app.ExitUsage, app.Text("The page needs ADDRESS:PORT, such as: /serve 192.168.1.20:8443"))
	case r.page == nil:
		ctx, stop := context.WithCancel(context.Background())
		page, err := serve.Start(ctx, r.app, address, terminalHost{r})
		if err != nil {
			stop()
			return err
		}
		r.page, r.endPage = page, func() error {
			stop()
			return page.Wait()
		}
	case address != anyPort:
		return errors.New("the page is open already; its address is the one that /serve prints")
	}
	session := ""
	if own := r.own.Load(); own != nil {
		session = own.Name()
	}
	if c := r.display.console; c != nil {
		c.Print(strings.Split(r.page.Announcement(session), "\n")...)
		return nil
	}
	r.app.Notice(r.page.Announcement(session))
	return nil
}

// isAddress reports whether a text is a host and a port.
func isAddress(text string) bool {
	_, port, err := net.SplitHostPort(text)
	return err == nil && port != ""
}

// noPageText is for a conversation that has no page.
func noPageText() app.Message {
	return app.Text("Only a chat on a terminal that is saved has a page of its own.").
		With(app.To("hold conversations on a page", "serve", "--chat", "--open"))
}

// closePage ends the page.
func (r *repl) closePage() {
	if r.page == nil {
		return
	}
	if err := r.endPage(); err != nil {
		r.app.Log.Warn("the page has ended", "error", err)
	}
}

// slashServe opens the page.
func (r *repl) slashServe(_ context.Context, address string) error {
	if address == "" {
		address = anyPort
	}
	r.report(r.servePage(address))
	return nil
}
