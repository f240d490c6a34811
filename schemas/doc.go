// Package schemas has the JSON Schemas of the files that agent-chatter reads and writes, and
// validates documents against them.
//
// A schema is a JSON Schema, draft-07, in a file of this directory. The files are embedded in
// the program, which reads no schema from the disk or the network. A schema defines which
// documents are accepted; the Go types of the other packages define how they are decoded.
//
//	cli-config-v1.3          a team file
//	team-config-v1.3         its "team"
//	agent-registry-v1.1      agents/config.json
//	session-snapshot-v1.0    a session in one document
//	journal-event-v1.0       one line of a journal
//	session-index-v1.0       sessions.json
//	session-checkpoint-v1.0  <ID>.checkpoint.json
//	session-bundle-v1.0      one line of a bundle
//	trust-v1.0               trust.json
//	team-offered-v1.0        team-offered.json
//	hub-mark-v1.0            <ID>.hub.json
//	home-key-v1.0            id
//	usage-day-v1.0           usage-day.json
//	command-uses-v1.0        command-uses.json
//	devices-v1.0             devices.json
//
// [Check] reports all problems of a document at once, one [Problem] for each field that has to
// be changed:
//
//	Invalid cli-config-v1.3:
//	  - /team: missing property "description"
//	  - /team/members/0: missing property "agentType"
//
//	Please check the schema: schemas/cli-config-v1.3.json
//
// # Versions
//
// Team files, registries and snapshots have a schemaVersion, which is checked first. For a
// version that is too new or too old, [Check] returns a [VersionError] and does not validate
// the document. Versions are compared number by number: 1.10 is newer than 1.2. A
// schemaVersion that is not a version is reported by the schema.
//
// A team file with a newer minor version is validated. Which of the properties that the schema
// does not define may be ignored is the decision of the reader of [InvalidError].
//
// # Validation
//
// The validator knows the keywords that the schemas use, and no others: a general one would take
// a fifth of the start of each command. A test compares its verdicts with those of a general one.
//
// # Concurrency
//
// All functions are safe for concurrent use. A schema is read when it is first used.
package schemas
