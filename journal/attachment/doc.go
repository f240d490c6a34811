// Package attachment keeps the files that belong to the events of a journal, such as the pictures of a message.
//
// The attachments of a journal are the files of its directory <ID>.attachments, each under the SHA-256 of its content,
// in hex. So the same content is kept once, its name never comes from elsewhere, and an event that has the name proves
// the content:
//
//	<ID>.attachments/<SHA-256>                the content
//	<ID>.attachments/<SHA-256>.<8 hex>.tmp    what a killed writer left
//
// An attachment is written and synced before the event that names it is appended. A crash in between leaves a file that
// no event names. The directory stays where it is when its journal is archived, and goes to the trash and back with it.
package attachment
