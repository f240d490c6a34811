// Package search finds messages in the journals of many sessions.
//
// A Query selects sessions by their metadata and messages by text or regular
// expression, speaker and time. A Hit is a message that matches. Search reads
// several journals at once and yields the hits in the order of the sessions,
// each as soon as all before it are known.
//
// # Speed
//
// Most lines of most journals cannot match, so a line is decoded only if its
// raw bytes contain a literal that every match must contain, as it is spelled
// inside a JSON string. A regular expression without such a literal decodes
// every message.
package search
