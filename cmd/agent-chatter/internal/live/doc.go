// Package live has what the front ends of a conversation share while a process hosts it: what was entered and is not
// sent yet, the questions that are open, and what is said that the journal does not have yet.
//
// A front end is a terminal or a page. It shows the journal and, beside it, the [Update]s of a [Conversation]. It
// enters lines, answers questions and cancels turns. The process that hosts the conversation takes what is entered in
// one order, from all front ends. The first answer to a question counts.
package live
