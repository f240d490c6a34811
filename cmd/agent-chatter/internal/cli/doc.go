// Package cli is the command line of agent-chatter: its commands, and the exit code of each run.
// The program and the tests that run it call Main.
package cli
