// Package page shows a session as HTML.
//
// Members.HTML writes the HTML of an item of a conversation: of a turn, a message or a change of the session. Text of a
// session never becomes markup: only the elements and attributes that this package writes are in it, links lead to
// http, https and mailto addresses only, images are their descriptions, and control characters, among them those that
// change the direction of text, are replaced. So a page needs no inline style, script or foreign address, and its
// content security policy can forbid them.
//
// The classes fg0 to fg15 set the property --hue to one of the colours of a terminal. An open
// turn has two elements, of the classes now and later. The style sheet shows .later; a page of a session that is being
// written shows .now instead. A text that was truncated is followed by a p.more, whose data attributes are the
// arguments of Whole.
//
// # Document
//
// A Document is a file of HTML that needs no other file and has the look of the served page. Its content security
// policy allows its own style sheet and its own script, by their hashes, and nothing else: it sends no request. All
// text is in the elements, so that it can be read and printed without the script, which searches, switches the colours
// and unfolds what a link leads to. A long session is divided into chapters, which are folded except the first one:
// browsers limit the height of a page, and lay out only what is unfolded.
package page
