// Package line is an input field of one line: a title, a path or a query.
package line
