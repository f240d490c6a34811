// Package browse is the command that browses sessions.
package browse
