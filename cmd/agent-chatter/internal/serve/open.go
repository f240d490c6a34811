package serve

import (
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
)

// openText is the file that leads to the page.
const openText = `<!DOCTYPE html>
<meta charset="utf-8">
<title>agent-chatter</title>
<meta http-equiv="refresh" content="0;url=%[1]s">
<a href="%[1]s">Open the sessions</a>
`

// openPage opens an address in the desktop's web browser. Other users see the arguments of processes, and the address
// has the token, so the browser is given a file that only the user can read and that leads there. remove removes it.
func openPage(address string) (remove func(), err error) {
	dir, err := os.MkdirTemp("", "agent-chatter-serve-") // mode 0700
	if err != nil {
		return nil, err
	}
	remove = func() { os.RemoveAll(dir) }
	path := filepath.Join(dir, "open.html")
	text := fmt.Sprintf(openText, html.EscapeString(address))
	err = os.WriteFile(path, []byte(text), 0o600)
	if err == nil {
		err = opener(path).Start()
	}
	if err != nil {
		remove()
		return nil, app.Exit(app.ExitFailed,
			app.Text("No web browser can be opened: %s\nOpen the address that is printed.", app.Sentence(err)))
	}
	return remove, nil
}

// opener returns the command that opens a file as the desktop does.
func opener(path string) *exec.Cmd {
	switch runtime.GOOS {
	case "darwin":
		return exec.Command("open", path)
	case "windows":
		return exec.Command("rundll32", "url.dll,FileProtocolHandler", path)
	}
	return exec.Command("xdg-open", path)
}
