// Package regularfile opens regular files, and refuses everything else at once: a
// directory, a named pipe, a device or a socket.
//
// Opening a named pipe with package os blocks until another program opens its other
// end, and reading a device such as /dev/zero never ends. A program that reads files
// which others may have created opens them with this package instead. The check is
// made on the open file, so that a name which is replaced meanwhile cannot evade it.
//
// On Windows the files can be renamed and removed while they are open, as on other
// systems.
package regularfile
