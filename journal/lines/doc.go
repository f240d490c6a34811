// Package lines splits a stream into lines of limited length. However long a
// line is, a Reader needs memory for little more than the limit.
package lines
