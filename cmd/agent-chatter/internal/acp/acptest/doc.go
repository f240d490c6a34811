// Package acptest checks the lines of a connection against the schema of the Agent Client Protocol.
//
// A [Recording] gets each line that the agent or the client writes, in the order of the connection, and finds the type
// that the schema has for it: by the method of a request or notification, and for a response by the method of the
// request that it answers. A method, or a kind of session update, that the stable schema lacks is checked against the
// unstable one.
//
// # Schema
//
// The schema is that of version 1 of the protocol in release v0.13.5 of agentclientprotocol/agent-client-protocol,
// commit e22561876c59e378ea4e25a6f2d1d63313517aba. The module github.com/coder/acp-go-sdk contains the files of that
// release; their checksums are compared.
package acptest
