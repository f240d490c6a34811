// Package edit finds the changes to a file in the input of a tool call, whichever agent made it.
package edit
