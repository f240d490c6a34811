package chat

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/live"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/web"
)

func TestMayEnter(t *testing.T) {
	for text, least := range map[string]web.Role{
		"hello": web.RoleAnswer, "//export x": web.RoleAnswer, "/status": web.RoleAnswer, "/STATUS": web.RoleAnswer,
		"/permissions": web.RoleAll, "/permissions ada": web.RoleAll, "/permissions ada ask": web.RoleAll,
		"/permissions deny": web.RoleAll, "/own x": web.RoleAll,
		"/permissions allow": "", "/permissions bypass": "", "/permissions edit": "", "/permissions ada allow": "",
		"/Permissions\u00a0ada\u2003bypass": "", "/permissions ada\nallow": "", "/permissions ada configured": "",
		"/add x": "", " /export x": "", "\n/export x": "", "/export\nx": "", "/EXPORT x": "", "/team deploy x": "",
		"/budget": web.RoleAll, "/budget session.cost=9": "", "/serve": "", "/end": "", "/sessions": "",
	} {
		for _, role := range []web.Role{"", web.RoleRead, web.RoleAnswer, web.RoleAll} {
			want := least == web.RoleAnswer && role == web.RoleAnswer || least != "" && role == web.RoleAll
			if got := mayEnter(role, text); (got == nil) != want {
				t.Errorf("%q of a device with the role %q: %v", text, role, got)
			}
		}
	}
	if err := mayEnter(web.RoleAll, "/permissions allow"); !strings.HasPrefix(err.Error(), "/permissions allow cannot") {
		t.Error(err)
	}
}

// Devices get what is queued with each change, so it is short.
func TestShownQueue(t *testing.T) {
	r := &repl{live: live.New(nil)}
	r.showQueue([]tty.Line{{ID: "1", Text: strings.Repeat("ü", 1<<20)}, {ID: "2", Text: "short"}})
	for u := range r.live.Watch(t.Context()) {
		queue := u.State.Queue
		if len(queue) != 2 || len(queue[0].Text) > shownQueued+3 || !utf8.ValidString(queue[0].Text) || queue[1].Text != "short" {
			t.Errorf("%d bytes are shown of the first, and %q", len(queue[0].Text), queue[1].Text)
		}
		return
	}
}
