package storetest

import (
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/store"
)

// Run tests a Store. Every call of open returns an empty one.
func Run(t *testing.T, open func(t *testing.T) store.Store) {
	for _, test := range []struct {
		name string
		run  func(t *testing.T, s store.Store)
	}{
		{"session exists after first append", existsAfterFirstAppend},
		{"session is created with a given ID", createsWithID},
		{"append returns stored events", appendReturnsEvents},
		{"rejected batch changes nothing", rejectedBatch},
		{"files are kept", keepsFiles},
		{"load returns whole session", loadWhole},
		{"backward yields events in reverse", backward},
		{"open returns same state", sameState},
		{"session keeps ID when resumed", resumeKeepsID},
		{"open writes nothing", openWritesNothing},
		{"unknown session is not found", notFound},
		{"ID is not matched by prefix", exactID},
		{"unknown team has empty list", emptyList},
		{"list is sorted by update", listOrder},
		{"list describes session", listRow},
		{"latest is newest non-empty session", latest},
		{"delete removes one session", deleteOne},
		{"delete of unknown session succeeds", deleteUnknown},
		{"session has one writer", oneWriter},
		{"open session is not deleted", deleteLocked},
		{"second close releases nothing", closeTwice},
		{"closed log rejects calls", closedLog},
		{"healthy log recovers nothing", nothingToRecover},
		{"session of other team is mismatch", otherTeam},
		{"teams have separate sessions", separateTeams},
		{"newer session is read-only", newer},
		{"canceled context is an error", canceled},
		{"arguments are copied", copiesArguments},
		{"results are copied", copiesResults},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, open(t)) })
	}
}
