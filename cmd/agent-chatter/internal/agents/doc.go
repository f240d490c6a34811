// Package agents has the command agents: it finds, registers and verifies the agents that
// all teams of a home can use.
//
// A registered agent is a name for a program and its arguments, kept in agents/config.json
// of the home. Teams name it as the agentType of a member.
package agents
