// Package document writes a session as a file of HTML that needs no other file.
//
// The file has the look of the served page. Its content security policy allows its own style sheet and its own script,
// by their hashes, and nothing else: it sends no request. All text is in the elements, so that it can be read and
// printed without the script, which searches, switches the colours and unfolds what a link leads to.
//
// A long session is divided into chapters, which are folded except the first one: browsers limit the height of a page,
// and lay out only what is unfolded.
package document
