// Package turns lists the turns of a session, a row for each, in a part of a screen.
//
// A row is one of a projection.Timeline: a turn, a message that belongs to none, or a change of the session. A page is
// a few hundred rows that are read together. The index of a session has a mark where each page begins: the timeline
// without the rows before it, and the position of the events that follow. A List keeps the marks and the pages around
// the rows that it shows, so that its memory does not grow with what was said, and by about a byte for each row.
//
// # Concurrency
//
// The methods of a List and of a Timeline are called by one goroutine. They read no files: the commands that they
// return do, with a context that ends when another session or row is shown.
//
// # Timeline
//
// A [Timeline] is a list of turns, and below it or beside it the task, the queue and the conversation up to the end of
// the selected row, as far as there is room. The conversation is read backwards from that event, so that moving through
// a long session costs what is shown of it.
package turns
