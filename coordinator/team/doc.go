// Package team reads the configuration of teams and the registry of agents.
//
// A [Team] has members, humans and agents, and the rules of their conversation. Team files are JSON
// of the schema team-config; [Find] locates one by name and [Load] reads it. [Demo] is built in.
//
// The agent registry of a home directory, agents/config.json, has the commands of agents that are
// installed for all teams. A team file may change the arguments of a registered agent, but not its
// command.
//
// Neither file needs to contain secrets: the values of [Member.Env] may refer to variables of the
// program's environment.
package team
