// Package review shows on the whole terminal what turns changed in files, and sets it back.
//
// A Pane lists the turns with their files, and shows what differs in the selected file. Its methods are called by one
// goroutine and read no files: the commands that they return do. A restore is prepared and confirmed before it runs,
// and Close waits for one that runs.
package review
