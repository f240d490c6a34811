// Package rerun sends the human messages of a session to a team, in a new session.
package rerun
