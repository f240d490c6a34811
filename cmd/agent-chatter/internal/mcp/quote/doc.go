// Package quote marks text from saved conversations so that a language model can tell it from what the program says.
//
// Each line of a quotation begins with Prefix, and nothing else that the program writes does. A quotation has no end
// mark that its text could contain: whatever the text is, none of it is on a line without the prefix. Characters that
// are not visible, or that could end a line or change the order of what is shown, are replaced.
package quote
