// Package ansi lays out Markdown and tables for a terminal.
//
// A Span is text in a Style, and a line is a list of spans. Wrap divides spans into lines between words, by the
// columns that a terminal shows them in. Piece lays out a piece of a message, and Encode turns a line into the text
// and control sequences that a terminal of a Profile takes. Only the 16 colours of the terminal's own palette are
// used. The text of a Span may be anything: Wrap, Cut and Encode make it safe.
//
// A Table has a header and fits the width: the columns that matter least are left out, and the texts of others are
// cut. A column in which no row has a text is left out. Nothing that is printed to a pipe is left out or cut: see
// Align. WriteFields prints the fields of one thing on a terminal.
package ansi
