// Package member gives the members of a team the command mcp as a server, with which they search and read what was said
// before.
package member
