// Package find searches the sessions of a list, in what the list shows of them and in their messages, for the browser.
//
// A Finder changes only in its methods, which one goroutine calls. Whatever takes time is a command, whose result
// arrives as a message. Sessions that are written meanwhile are searched again, from where they were read.
package find
