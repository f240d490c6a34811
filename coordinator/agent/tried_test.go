package agent

import (
	"os"
	"strings"
	"testing"
)

func TestTriedVersionsAreInstalledForTests(t *testing.T) {
	script, err := os.ReadFile("../../.ci/agents")
	if err != nil {
		t.Fatal(err)
	}
	for name, version := range tried {
		if !strings.Contains(string(script), " "+name+"@"+version+"\n") {
			t.Errorf("%s@%s is not in .ci/agents", name, version)
		}
	}
	for _, k := range KnownAgents() {
		if _, version := k.Package(); (version == "") != (k.Name == "agy") {
			t.Errorf("the version of %s that was tried is %q", k.Name, version)
		}
	}
}
