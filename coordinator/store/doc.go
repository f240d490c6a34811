// Package store keeps the sessions of teams.
//
// A [Store] creates, opens, loads, lists and deletes sessions. A [Log] is one session, open for its
// only writer. [Files] keeps each session in a journal on disk; [Memory] is its in-memory counterpart.
// Package storetest has the tests that every Store passes.
package store
