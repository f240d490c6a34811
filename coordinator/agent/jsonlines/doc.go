// Package jsonlines reads the output of programs that print JSON objects, one in each line, and
// that are not trusted to do so, and writes lines to them, which they are not trusted to read.
package jsonlines
