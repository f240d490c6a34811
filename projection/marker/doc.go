// Package marker parses the markers of a message.
//
// A marker is a part of a message that is meant for the program:
//
//	[NEXT: ada, bea!P1]    who speaks next, each with an optional intent
//	[NEXT: ada | bea]    who speaks next at the same time: a panel
//	[NEXT: cleo judges ada | bea]    who speaks next, about what others have done
//	[DROP: ada], [DROP: ALL]    who is removed from the queue
//	[FROM: hugo]    which human is speaking
//	[TEAM_TASK: text]    the task of the team from now on
//
// The keyword may be in any case. A marker ends at the first ']', and on its own line unless it is a
// TEAM_TASK. The brackets of [REDACTED:kind], which replaces a secret, are text. In a code span or a
// code block, as package markdown finds them, a marker is text, and a ']' ends nothing. NEXT and DROP
// are removed from the message; FROM and TEAM_TASK stay.
package marker
