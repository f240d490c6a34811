// Package remote lets a process take part in a conversation that another process of the same user hosts.
//
// Each process that hosts conversations listens on a Unix socket of its own, PID.sock in the directory run of the home.
// The lock of a journal names the process. Both sides check that the other one belongs to the user. The protocol is
// HTTP with JSON bodies, one request for each method of a [live.Conversation]; Watch is answered by a line of JSON for
// each update. Both sides are the same version or versions next to each other: unknown fields are ignored.
package remote
