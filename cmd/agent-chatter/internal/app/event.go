package app

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"unicode"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// CutEvent splits the name of an event, such as 7QN3#12, which a search prints, into the name of its session and the
// number. A session with that title has precedence. The number takes the place of the value of a flag, which must be
// empty then; of another name, CutEvent returns the name and the value.
func (a *App) CutEvent(ctx context.Context, name, flag, value string) (session, point string, err error) {
	session, point, ok := cutEvent(name)
	if !ok {
		return name, value, nil
	}
	_, _, err = a.Catalog.Find(ctx, name)
	if notFound := (*catalog.NotFoundError)(nil); !errors.As(err, &notFound) {
		return name, value, nil
	}
	if value != "" {
		return "", "", UsageError("%s names an event: it excludes --%s.", tty.SafeLine(name), flag)
	}
	return session, point, nil
}

func cutEvent(name string) (session, number string, ok bool) {
	at := strings.LastIndexByte(name, '#')
	if at <= 0 || strings.ContainsFunc(name, unicode.IsSpace) {
		return "", "", false
	}
	n, err := strconv.ParseUint(name[at+1:], 10, 64)
	return name[:at], name[at+1:], err == nil && n > 0
}
