// Package guide holds the manual of agent-chatter: Markdown pages, one per
// topic, embedded in the program, and the command that prints them.
//
// README.md lists the topics in reading order, one line each. The pages link to
// each other and to other files of the repository, so that they can be read
// there as well.
package guide
