package agent

import "github.com/agent-chatter/agent-chatter/coordinator/hint"

// geminiWindow is the context window that Gemini CLI assumes for its models, less room for its own prompt. It
// estimates a token as four characters, and sends no longer prompts.
var geminiWindow = limit{4<<20 - 64<<10, "characters", countUTF16}

var geminiRun = hint.Hint{Kind: hint.Run, Argv: []string{"gemini"}}

var geminiProfile = profile{
	name:    "Gemini CLI",
	program: "gemini",
	install: npmInstall("@google/gemini-cli"),
	login:   Remedy{`log in there, or set a key in the member's "env"`, geminiRun},
	trust: Remedy{
		`trust the directory there, or set "GEMINI_CLI_TRUST_WORKSPACE": "true" in the member's "env"`, geminiRun,
	},
	permits: []string{"--approval-mode", "--yolo", "-y"},
	limits:  []limit{geminiWindow},
}

var _ = Register(Info{
	Name: "gemini", AgentTypes: []string{"gemini", "gemini-cli"}, New: func() Engine { return Gemini() },
	Models: true, Permissions: Policies, InstructionFile: "GEMINI.md", MaxImage: anyImage,
})

var _ = RegisterAgents(
	geminiProfile.known(Known{Name: "gemini", Engine: "gemini"}),
	geminiProfile.known(Known{
		Name: "gemini-acp", DisplayName: "Gemini CLI (ACP)", Engine: acpEngine, AgentType: "gemini",
		Args: []string{"--acp"},
	}),
)

// Gemini returns the engine for Gemini CLI, which speaks the Agent Client Protocol: an [ACP] whose members all have
// this agent. If Member.Permissions is "" and Member.Args choose the mode of the agent, it has that mode.
func Gemini() *ACP { return &ACP{agentType: "gemini"} }
