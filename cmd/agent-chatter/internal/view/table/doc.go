// Package table lays out tables for a terminal, and aligns texts for a pipe.
//
// A Table on a terminal has a header and fits the width: the columns that matter least are left out, and the texts of
// others are cut. A column in which no row has a text is left out. Nothing that is printed to a pipe is left out or
// cut: see Align. WriteFields prints the fields of one thing on a terminal.
package table
