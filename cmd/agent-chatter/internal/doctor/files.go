package doctor

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
)

// checkFiles returns how much the captured files take, and whether Git can say which files to capture.
func (d *doctor) checkFiles() []app.Finding {
	if config, err := d.Config(); err == nil && !config.CapturesFiles() { // its error is another finding
		return []app.Finding{app.Fine(textNotCaptured)}
	}
	if !isInstalled("git") {
		return []app.Finding{noGitText()}
	}
	dirs, bytes := 0, int64(0)
	for _, f := range d.files {
		below, err := filepath.Rel(filepath.Join(d.Home, "files"), f.path)
		if err != nil || !filepath.IsLocal(below) || below == "." {
			continue
		}
		if f.info.IsDir() && !strings.Contains(filepath.ToSlash(below), "/") {
			dirs++
		}
		if f.info.Mode().IsRegular() {
			bytes += f.info.Size()
		}
	}
	if dirs == 0 {
		return []app.Finding{app.Fine(textNoneCaptured)}
	}
	return []app.Finding{capturedText(dirs, bytes)}
}

const (
	textNotCaptured  = "files.capture is off: what agents do to files is not recorded"
	textNoneCaptured = "none are captured yet"
)

func capturedText(dirs int, bytes int64) app.Finding {
	directories := "directories"
	if dirs == 1 {
		directories = "directory"
	}
	return app.Fine(fmt.Sprintf("the contents of %d %s take %s", dirs, directories, app.Count(int(bytes), "byte")))
}

// noGitText is for a machine without Git.
func noGitText() app.Finding {
	return app.Note("git was not found: files that a repository ignores are captured, too",
		"Install git, or set files.capture of config.json to off")
}
