// Package setup has the command team: it creates, lists, shows and validates team
// configurations.
//
// A team configuration is a JSON file; coordinator/team reads it.
package setup
