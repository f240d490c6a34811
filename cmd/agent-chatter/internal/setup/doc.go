// Package setup implements the command team: init, list, show and validate. Its
// subcommand trust is in package teams.
//
// A team file is JSON; coordinator/team reads it.
package setup
