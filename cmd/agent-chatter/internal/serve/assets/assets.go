package assets

import (
	"embed"
	"mime"
	"net/http"
	"path"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/chart"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/page"
)

//go:embed *.html *.js *.css *.svg *.png *.webmanifest
var files embed.FS

// Handler returns the handler of the files. They are sent whole: ranges are ignored.
func Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "Only GET is allowed.", http.StatusMethodNotAllowed)
			return
		}
		name := strings.TrimPrefix(r.URL.Path, "/")
		if name == "" || name == "compare" || name == "usage" || strings.HasPrefix(name, "s/") { // a session
			name = "index.html"
		}
		text, err := files.ReadFile(name)
		switch name {
		case "page.css":
			text, err = []byte(page.Style), nil
		case "chart.css":
			text, err = []byte(chart.Style), nil
		}
		if err != nil {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", typeOf(name))
		_, _ = w.Write(text)
	})
}

// typeOf returns the media type of a file.
func typeOf(name string) string {
	if path.Ext(name) == ".webmanifest" { // most systems do not know it
		return "application/manifest+json"
	}
	return mime.TypeByExtension(path.Ext(name))
}
