// Package hub ships the session of a chat to the hub, and tells the user what is not there yet.
package hub
