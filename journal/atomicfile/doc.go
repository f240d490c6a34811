// Package atomicfile replaces whole files: a reader finds the previous content
// or the new content, never a part of either.
//
// The new content is written to a temporary file with a unique name in the same
// directory, NAME.XXXXXXXX.tmp, which is then renamed. A failure removes the
// temporary file and leaves the previous content. A crash may leave a temporary
// file, which is never read.
//
// Create writes a file that must not replace another one.
package atomicfile
