// Package settings has what a client can choose in a session: its configuration options.
//
// The options are the team, the model of each agent that has one, how many turns agents may have after a message, and
// what agents may do. A choice counts from the next prompt on. The team is fixed once the session has a message.
package settings
