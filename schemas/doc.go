// Package schemas holds the JSON Schemas of everything that agent-chatter reads from and
// writes to files, and the one function that checks documents against them.
//
// A schema is a JSON Schema, draft-07, in a file of this directory. The files are part of the
// program: it looks for them neither on the disk nor on the network. The Go types of the other
// packages say what the program makes of a document; a schema says what it accepts.
//
//	cli-config-v1.2          a team file
//	team-config-v1.2         its "team"
//	agent-registry-v1.1      agents/config.json
//	session-snapshot-v1.0    a whole conversation in one document
//	journal-event-v1.0       one line of a journal
//	session-index-v1.0       sessions.json
//	session-checkpoint-v1.0  <ID>.checkpoint.json
//	session-bundle-v1.0      one line of a bundle
//
// [Check] answers with everything that is wrong at once, one [Problem] for each thing that
// somebody has to change, at the field where it has to be changed:
//
//	Invalid cli-config-v1.2:
//	  - /team: missing property "description"
//	  - /team/members/0: missing property "agentType"
//
//	Please check the schema: schemas/cli-config-v1.2.json
//
// # Versions
//
// Team files, registries and snapshots carry a schemaVersion. It is looked at first, and a
// document of a version that is too new or too old is refused with a [VersionError] alone:
// what a schema would say about it helps nobody. Versions are compared number by number, so
// 1.10 is newer than 1.2. What is not a version at all is left to the schema.
//
// # Concurrency
//
// Everything may be called from several goroutines. A schema is compiled when a document is
// first checked against it, and kept.
package schemas
