package app

import (
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
)

// Engines returns the engines that the members of a team can name.
func Engines(demo agent.Demo) map[string]agent.Engine {
	return map[string]agent.Engine{
		team.EngineDemo:    demo,
		team.EngineCommand: agent.Command{},
		team.EngineClaude:  agent.Claude(),
		team.EngineCodex:   agent.Codex(),
		team.EngineGemini:  agent.Gemini(),
		team.EngineOpenAI:  agent.OpenAI{},
		team.EngineACP:     &agent.ACP{},
	}
}
