// Package clientconfig writes what a user pastes so that a client starts this program: an editor that speaks the Agent
// Client Protocol (ACP) with the command acp, or an agent that speaks the Model Context Protocol (MCP) with the
// command mcp.
//
// Each client has a format of its own: JSON, Lua, Emacs Lisp, TOML, or a command for a POSIX shell. Strings are quoted
// for it, so that each argument reaches the program as it is here, whatever characters it has. A Setup needs no change
// on the machine for which it was made: the path of the program is absolute.
package clientconfig
