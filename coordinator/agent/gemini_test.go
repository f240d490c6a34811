package agent

import (
	"strings"
	"testing"
)

func TestGeminiCommandLines(t *testing.T) {
	for _, tt := range []struct {
		member Member
		want   string
	}{
		{Member{}, "gemini --acp"},
		{Member{AgentType: "codex", Model: "m", Command: "/opt/gemini"}, "/opt/gemini --acp"},
		{Member{Args: []string{"--acp", "-m", "n"}}, "gemini --acp -m n"},
		{Member{Permissions: Ask, Args: []string{"-y", "--sandbox"}}, "gemini --acp --sandbox"},
		{
			Member{Permissions: Edit, Args: []string{"--approval-mode=yolo", "--yolo", "--skip-trust"}},
			"gemini --acp --skip-trust",
		},
		{Member{Permissions: Bypass, Args: []string{"--approval-mode", "plan"}}, "gemini --acp"},
		{Member{Args: []string{"--yolo"}}, "gemini --acp --yolo"},
	} {
		if got := strings.Join(Gemini().CommandLine(tt.member), " "); got != tt.want {
			t.Errorf("%+v: got %q, want %q", tt.member, got, tt.want)
		}
	}
}

// Only with the engine gemini do arguments of a member without permissions choose the mode.
func TestGeminiArgumentsChooseMode(t *testing.T) {
	for _, tt := range []struct {
		permissions string
		args        []string
		own         bool
	}{
		{"", []string{"--yolo"}, true},
		{"", []string{"-y"}, true},
		{"", []string{"--approval-mode=auto_edit"}, true},
		{"", []string{"-m", "yolo"}, false},
		{"", nil, false},
		{Ask, []string{"--yolo"}, false},
		{ReadOnly, []string{"--approval-mode", "yolo"}, false},
	} {
		m := Member{AgentType: "gemini", Permissions: tt.permissions, Args: tt.args}
		for _, ownMode := range []bool{true, false} {
			a := acpAgent{profile: geminiProfile, ownMode: ownMode}
			if got := len(a.mode(m).Names) == 0; got != (tt.own && ownMode) {
				t.Errorf("%q, %q: the agent's own mode: %t", tt.permissions, tt.args, got)
			}
		}
	}
}

func TestGeminiPromptLimits(t *testing.T) {
	const window = 4<<20 - 64<<10
	for _, tt := range []struct {
		letter string
		count  int
		excess int
	}{
		{"x", window, 0},
		{"x", window + 3, 3},
		{"é", window, 0},
		{"語", window, 0},
		{"\uffff", window + 1, 1}, // the last one of one unit
		{"😀", 8<<20/4 - 1<<10, 2*(8<<20/4-1<<10) - window}, // of two units each
	} {
		if got := Gemini().Excess(Member{}, strings.Repeat(tt.letter, tt.count)); got != tt.excess {
			t.Errorf("%d times %s are %d too many, want %d", tt.count, tt.letter, got, tt.excess)
		}
	}
}

func TestGeminiRemedyForUntrustedDirectory(t *testing.T) {
	const reason = "it exited with code 55: Gemini CLI is not running in a trusted directory. To proceed …"
	if remedy := (profile{program: "other"}).remedy(reason); remedy.Advice != "retry, or run other directly to see more" {
		t.Errorf("the remedy of another agent is %q", remedy)
	}
	remedy := geminiProfile.remedy(reason)
	if !strings.Contains(remedy.Advice, "GEMINI_CLI_TRUST_WORKSPACE") {
		t.Errorf("the remedy is %q", remedy)
	}
}

func TestACPPermissionsOverrideArguments(t *testing.T) {
	for permissions, want := range map[string]string{
		"": "gemini --acp --yolo --approval-mode yolo", Deny: "gemini --acp", Ask: "gemini --acp",
	} {
		args := []string{"--acp", "--yolo", "--approval-mode", "yolo"}
		line := new(ACP).CommandLine(Member{AgentType: "gemini", Permissions: permissions, Args: args})
		if got := strings.Join(line, " "); got != want {
			t.Errorf("with permissions %q it is started as %s, want %s", permissions, got, want)
		}
	}
}
