// Package code colours source code for a terminal.
//
// A Lexer takes the lines of a block of code one by one, as they arrive. What it returns for a line follows from that
// line and those before it, in time proportional to the line: a line that was printed never has to change. It knows
// comments, strings, numbers, keywords, names of functions and keys of the usual languages, which is what 16 colours
// can tell apart.
package code
