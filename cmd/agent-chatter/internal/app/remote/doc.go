// Package remote connects a command to the hub.
package remote
