// Package hubs has the commands that share sessions with other machines through a hub.
package hubs
