// Package host has what the front ends share that run conversations: the event log, the connection to the hub, the
// retention policy, warnings about where a session is stored, the text of a request for permission, and the server with
// which members read saved sessions.
//
// Nothing here knows a front end: chat and acp give it their App, and one process can have several conversations.
package host
