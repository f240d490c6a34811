package app

import (
	"runtime"
	"runtime/debug"
	"testing"
)

func TestBuildOf(t *testing.T) {
	const commit = "155889ee0f1d2c3b4a59687766554433221100ff"
	settings := func(changed string) []debug.BuildSetting {
		return []debug.BuildSetting{
			{Key: "CGO_ENABLED", Value: "0"}, {Key: "vcs.revision", Value: commit},
			{Key: "vcs.time", Value: "2026-11-29T21:23:00Z"}, {Key: "vcs.modified", Value: changed},
		}
	}
	for _, test := range []struct {
		name, version string
		settings      []debug.BuildSetting
		want          Build
		text          string
	}{
		{"a test", "", nil, Build{Version: unversioned}, "agent-chatter 0.0.0-dev"},
		{"a build without the repository", "(devel)", nil, Build{Version: unversioned}, "agent-chatter 0.0.0-dev"},
		{
			"a tagged commit", "v1.2.0", settings("false"),
			Build{Version: "1.2.0", Commit: commit, Date: "2026-11-29T21:23:00Z"},
			"agent-chatter 1.2.0 (commit 155889ee0f1d, 2026-11-29T21:23:00Z)",
		},
		{
			"a changed clone", "v0.0.0-20261129212300-155889ee0f1d+dirty", settings("true"),
			Build{
				Version: "0.0.0-20261129212300-155889ee0f1d+dirty", Commit: commit, Date: "2026-11-29T21:23:00Z",
				Changed: true,
			},
			"agent-chatter 0.0.0-20261129212300-155889ee0f1d+dirty (commit 155889ee0f1d, 2026-11-29T21:23:00Z)",
		},
		{"a tag of the module proxy", "v1.2.0", nil, Build{Version: "1.2.0"}, "agent-chatter 1.2.0"},
		{
			"a commit of the module proxy", "v1.2.1-0.20261129212300-155889ee0f1d", nil,
			Build{
				Version: "1.2.1-0.20261129212300-155889ee0f1d", Commit: "155889ee0f1d", Date: "2026-11-29T21:23:00Z",
			},
			"agent-chatter 1.2.1-0.20261129212300-155889ee0f1d (commit 155889ee0f1d, 2026-11-29T21:23:00Z)",
		},
	} {
		test.want.Go, test.want.OS, test.want.Arch = "go1.26.0", runtime.GOOS, runtime.GOARCH
		got := buildOf(&debug.BuildInfo{
			GoVersion: "go1.26.0", Main: debug.Module{Version: test.version}, Settings: test.settings,
		})
		if got != test.want || VersionText(got) != test.text {
			t.Errorf("%s: %+v, want %+v; %s", test.name, got, test.want, VersionText(got))
		}
	}
	if b := buildOf(&debug.BuildInfo{}); b.Go != runtime.Version() {
		t.Errorf("without build info: %+v", b)
	}
}
