package mcp

import (
	"net/http"
	"os/exec"
	"regexp"
	"slices"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal/programtest"
)

// passed are the scenarios of the official conformance suite that need no tool, resource or prompt of their own.
var passed = []string{
	"server-initialize", "ping", "logging-set-level", "completion-complete", "tools-list", "resources-list",
	"prompts-list", "server-sse-multiple-streams", "dns-rebinding-protection",
}

// notRun are the other scenarios, and what they need that the program does not have.
var notRun = map[string]string{
	"tools-call-simple-text":       "the tool test_simple_text",
	"tools-call-image":             "the tool test_image_content",
	"tools-call-audio":             "the tool test_audio_content",
	"tools-call-embedded-resource": "the tool test_embedded_resource",
	"tools-call-mixed-content":     "the tool test_multiple_content_types",
	"tools-call-with-logging":      "the tool test_tool_with_logging",
	"tools-call-error":             "the tool test_error_handling",
	"tools-call-with-progress":     "the tool test_tool_with_progress",
	"tools-call-sampling":          "the tool test_sampling, and a model of the client: no model is asked",
	"tools-call-elicitation":       "the tool test_elicitation, and a question to the user: none is asked",
	"elicitation-sep1034-defaults": "the tool test_elicitation_sep1034_defaults",
	"elicitation-sep1330-enums":    "the tool test_elicitation_sep1330_enums",
	"json-schema-2020-12":          "the tool json_schema_2020_12_tool",
	"server-sse-polling":           "the tool test_reconnection; without it, it checks nothing",

	"resources-read-text":      "the resource test://static-text",
	"resources-read-binary":    "the resource test://static-binary",
	"resources-templates-read": "the template test://template/{id}/data",
	"resources-subscribe":      "subscriptions, which the server does not offer",
	"resources-unsubscribe":    "subscriptions, which the server does not offer",

	"prompts-get-simple":            "the prompt test_simple_prompt",
	"prompts-get-with-args":         "the prompt test_prompt_with_arguments",
	"prompts-get-embedded-resource": "the prompt test_prompt_with_embedded_resource",
	"prompts-get-with-image":        "the prompt test_prompt_with_image",
}

// scenario is a line of the summary of the suite.
var scenario = regexp.MustCompile(`(?m)^\S* *[✓✗]\S* *([\w-]+): (\d+) passed, (\d+) failed`)

// TestConformance runs the suite against the server over HTTP. The suite cannot send a token: the test adds it.
func TestConformance(t *testing.T) {
	node := programtest.NodeModule(t, "node/bin/node")
	suite := programtest.NodeModule(t, "@modelcontextprotocol/conformance/dist/index.js")
	l := startWith(t, func(handler http.Handler, token string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r.Header.Set("Authorization", "Bearer "+token)
			handler.ServeHTTP(w, r)
		})
	})
	run := exec.CommandContext(t.Context(), node, suite, "server", "--url", l.address(), "--suite", "all")
	run.Dir = t.TempDir() // in which it writes its results
	printed, err := run.Output()
	results := map[string][]string{}
	for _, line := range scenario.FindAllStringSubmatch(string(printed), -1) {
		results[line[1]] = line[2:]
	}
	if len(results) == 0 {
		t.Fatalf("the suite did not run: %v, %s", err, printed)
	}
	for name, result := range results {
		switch needs, known := notRun[name]; {
		case known:
			t.Logf("%s needs %s", name, needs)
		case !slices.Contains(passed, name):
			t.Errorf("the suite has a new scenario: %s", name)
		case result[0] == "0" || result[1] != "0":
			t.Errorf("%s: %s passed, %s failed: %s", name, result[0], result[1], printed)
		}
	}
	for _, name := range passed {
		if results[name] == nil {
			t.Errorf("the suite has no scenario %s", name)
		}
	}
	for name := range notRun {
		if results[name] == nil {
			t.Errorf("the suite has no scenario %s", name)
		}
	}
}
