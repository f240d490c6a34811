// Package setup has the commands that prepare conversations: team (create, list, show
// and validate team configurations) and agents (find, register and verify the agents
// that all teams of a home can use).
//
// A team configuration is a file; package team reads it. A registered agent is a name
// for a program and its arguments, kept in agents/config.json of the home.
package setup
