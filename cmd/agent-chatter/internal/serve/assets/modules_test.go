package assets

import (
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	imported  = regexp.MustCompile(`(?m)^import .* from "/([a-z]+\.js)";`)
	preloaded = regexp.MustCompile(`<link rel="modulepreload" href="/([a-z]+\.js)">`)
	kept      = regexp.MustCompile(`"/([a-z0-9-]*(?:\.[a-z]+)?)"`)
)

// text returns the text of a file.
func text(t *testing.T, name string) string {
	t.Helper()
	data, err := files.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// imports adds the modules that a module imports when it is loaded.
func imports(t *testing.T, name string, all map[string]bool) {
	t.Helper()
	for _, m := range imported.FindAllStringSubmatch(text(t, name), -1) {
		if !all[m[1]] {
			all[m[1]] = true
			imports(t, m[1], all)
		}
	}
}

// TestModulesArePreloaded compares the modules that the page needs at first with those that the browser requests at
// once: otherwise it would find them one after the other.
func TestModulesArePreloaded(t *testing.T) {
	needed := map[string]bool{}
	imports(t, "app.js", needed)
	for _, m := range preloaded.FindAllStringSubmatch(text(t, "index.html"), -1) {
		if !needed[m[1]] {
			t.Errorf("index.html preloads %s, which app.js does not need", m[1])
		}
		delete(needed, m[1])
	}
	for name := range needed {
		t.Errorf("index.html does not preload %s", name)
	}
}

// TestWorkerKeepsAllFiles checks that the page works without its server: the service worker keeps all of its files.
func TestWorkerKeepsAllFiles(t *testing.T) {
	list, _, _ := strings.Cut(text(t, "worker.js"), "];")
	var names []string
	for _, m := range kept.FindAllStringSubmatch(list, -1) {
		names = append(names, m[1])
	}
	all, err := fs.Glob(files, "*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range all {
		leftOut := name == "index.html" || name == "worker.js" || strings.HasSuffix(name, "512.png")
		if slices.Contains(names, name) == leftOut {
			t.Errorf("%s: kept %t", name, !leftOut)
		}
	}
	for _, name := range []string{"", "page.css", "chart.css"} {
		if !slices.Contains(names, name) {
			t.Errorf("/%s is not kept", name)
		}
	}
}
