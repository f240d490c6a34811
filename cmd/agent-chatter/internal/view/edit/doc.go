// Package edit finds the files and the changes to them in the input of a tool call, whichever agent made it.
package edit
