// Package actions is what a user does to sessions in the browser: renaming, pinning, deleting, forking, exporting, and
// undoing that.
//
// An [Actions] turns keys into questions on a row of the screen and into changes of package changes, and keeps what can
// be undone. Its methods are called by one goroutine; the commands that they return wait for the ends of changes.
package actions
