// Package manpages writes the grammar of the command line and the manual as manual pages of Unix: a page of section 1
// for each command, and one of section 7 for each topic.
package manpages
