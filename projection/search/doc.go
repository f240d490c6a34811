// Package search finds messages in the journals of many sessions.
//
// A Query is text, or a regular expression, and who said it when. A Hit is a
// message that it finds. Search looks through several journals at once and
// yields the hits in the order of the sessions that it was given, each as soon
// as all before it are known.
//
// # Speed
//
// Most lines of most journals have nothing to do with a query, so no line is
// decoded before its raw bytes have something of it: a literal that every match
// must contain, in the spelling that it has inside a JSON string. Only such
// lines are decoded and compared in earnest. A regular expression without such
// a literal makes every message a candidate.
package search
