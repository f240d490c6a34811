package storetest

import (
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/store"
)

// Run tests a store. Every call of open returns an empty one.
func Run(t *testing.T, open func(t *testing.T) store.Store) {
	for _, test := range []struct {
		name string
		run  func(t *testing.T, s store.Store)
	}{
		{"a session is kept from its first append on", keptFromFirstAppend},
		{"append returns the events as they are kept", appendReturnsEvents},
		{"a batch that is refused leaves the session as it was", refusedBatch},
		{"load returns the whole session", loadWhole},
		{"backward returns the events from the last one on", lastFirst},
		{"opening again gives the same state", sameState},
		{"a session goes on under its id", goesOn},
		{"opening writes nothing", openingWritesNothing},
		{"what is not there is not found", notFound},
		{"an id never matches by a part", wholeIDs},
		{"a team without sessions has an empty list", emptyList},
		{"list has one row for each session, the newest first", listOrder},
		{"list describes a session", listRow},
		{"latest is the newest that is not empty", latest},
		{"delete removes one session", deleteOne},
		{"deleting what is not there is no error", deleteNothing},
		{"a session has one writer", oneWriter},
		{"a session that is written to is not deleted", deleteLocked},
		{"closing twice frees nothing of anybody else's", closeTwice},
		{"a closed log refuses", closedLog},
		{"a sound log has nothing to recover", nothingToRecover},
		{"a session of another team is a mismatch", otherTeam},
		{"two teams see only their own", twoTeams},
		{"a newer session can be read and not written", newer},
		{"nothing is shared with what was passed in", copiesIn},
		{"nothing is shared with what was returned", copiesOut},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, open(t)) })
	}
}
