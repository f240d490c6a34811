package chat

import (
	"strings"
	"testing"

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
		for _, role := range []web.Role{web.RoleAnswer, web.RoleAll} {
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
