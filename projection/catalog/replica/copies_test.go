package replica_test

import (
	"context"
	"errors"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal/hub"
	"github.com/agent-chatter/agent-chatter/journal/hub/hubtest"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/catalog/replica"
	"github.com/agent-chatter/agent-chatter/projection/catalog/sessioncopy"
)

// sealed returns a hub with a sealed session of ann, and a machine that has fetched it and has no recipients.
func sealed(t *testing.T) (ann, ben *machine, memory *hubtest.Memory) {
	ann, ben, memory = two(t)
	identity := hubtest.NewIdentity(t)
	ann.Hub, ben.Hub = hub.New(memory, options(hubtest.Open(identity), hubtest.Seal(identity))),
		hub.New(memory, options(hubtest.Open(identity)))
	ann.create("one")
	ann.push()
	ben.pull()
	return ann, ben, memory
}

func options(change ...func(*hub.Options)) (o hub.Options) {
	for _, c := range change {
		c(&o)
	}
	return o
}

// begin begins a session.
func begin(t *testing.T, dir *catalog.Dir, team string, parent *projection.Parent) (id string) {
	t.Helper()
	log, err := dir.Journals().Create(dir.Journals().NewID())
	if err != nil {
		t.Fatal(err)
	}
	_, err = log.Append(projection.Record(created, projection.SessionCreated{
		Format: 1, SessionID: log.ID(), CWD: "/home/mia", App: projection.App{Name: "test", Version: "1"},
		Parent: parent, Team: projection.Team{ID: team, Name: team, Members: []projection.Member{
			{ID: "mia", Name: "mia", DisplayName: "Mia", Type: projection.TypeHuman},
		}},
	}))
	if err = errors.Join(err, log.Sync(), log.Close()); err != nil {
		t.Fatal(err)
	}
	return log.ID()
}

func TestCopyOfASealedSessionIsNotShippedInPlainText(t *testing.T) {
	fork := func(ctx context.Context, ben *machine, id string) (replica.Replica, error) {
		made, err := sessioncopy.Fork(ctx, ben.Dir, id, 0)
		return replica.Replica{Hub: ben.Hub, Dir: ben.Dir, ID: made}, err
	}
	for name, copied := range map[string]func(context.Context, *machine) (replica.Replica, error){
		"a fork": func(ctx context.Context, ben *machine) (replica.Replica, error) { return fork(ctx, ben, id) },
		"a fork without marks": func(ctx context.Context, ben *machine) (replica.Replica, error) {
			f, err := fork(ctx, ben, id)
			for _, of := range []string{id, f.ID} {
				err = errors.Join(err, vfs.OS.Remove(hub.MarkPath(ben.Dir.Journals(), of)))
			}
			return f, err
		},
		"a fork of a fork that was deleted": func(ctx context.Context, ben *machine) (replica.Replica, error) {
			first, err := fork(ctx, ben, id)
			if err != nil {
				return first, err
			}
			second, err := fork(ctx, ben, first.ID)
			return second, errors.Join(err, ben.Dir.Delete(ctx, first.ID))
		},
		"a fork that was deleted and restored": func(ctx context.Context, ben *machine) (replica.Replica, error) {
			f, err := fork(ctx, ben, id)
			return f, errors.Join(err, ben.Dir.Delete(ctx, f.ID), ben.Dir.Restore(ctx, f.ID))
		},
		"a fork of a deleted session": func(ctx context.Context, ben *machine) (replica.Replica, error) {
			f, err := fork(ctx, ben, id)
			return f, errors.Join(err, ben.Dir.Delete(ctx, id))
		},
		"a fork of an archived session": func(ctx context.Context, ben *machine) (replica.Replica, error) {
			f, err := fork(ctx, ben, id)
			return f, errors.Join(err, journaltest.Archive(ctx, ben.Dir.Journals(), id))
		},
		"what was only here": func(ctx context.Context, ben *machine) (replica.Replica, error) {
			ben.say("by ben")
			made, err := sessioncopy.ForkDiverged(ctx, ben.Dir, id, 2)
			return replica.Replica{Hub: ben.Hub, Dir: ben.Dir, ID: made}, err
		},
		"a merge": func(ctx context.Context, ben *machine) (replica.Replica, error) {
			m, err := sessioncopy.Merge(ctx, ben.Dir, begin(t, ben.Dir, "kitchen", nil), id)
			return replica.Replica{Hub: ben.Hub, Dir: ben.Dir, ID: m.ID}, err
		},
		"a rerun for another team": func(_ context.Context, ben *machine) (replica.Replica, error) {
			dir := ben.c.Team("pantry")
			made := begin(t, dir, "pantry", &projection.Parent{SessionID: id, Seq: 1})
			return replica.Replica{Hub: ben.Hub, Dir: dir, ID: made}, nil
		},
		"an imported copy": func(ctx context.Context, ben *machine) (replica.Replica, error) {
			made := ben.Dir.Journals().NewID()
			err := hub.MarkCopy(vfs.OS, ben.Dir.Journals(), made, true, id)
			_, _, importErr := sessioncopy.ImportEvents(ctx, ben.Dir, made,
				projection.SessionImported{Source: "bundle"}, ben.Dir.Events(ctx, id))
			return replica.Replica{Hub: ben.Hub, Dir: ben.Dir, ID: made}, errors.Join(err, importErr)
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, ben, memory := sealed(t)
			c, err := copied(t.Context(), ben)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				_, err = c.Push(t.Context(), true)
				plain := (*hub.PlainError)(nil)
				if !errors.As(err, &plain) || !plain.Copy || plain.Session != c.Session() {
					t.Errorf("push: %v", err)
				}
			}
			if n := len(memory.Messages(c.Session())); n > 0 {
				t.Fatalf("the hub has %d messages", n)
			}
			c.Hub = hub.New(memory, hub.Options{Plain: true})
			if events, err := c.Push(t.Context(), false); events == 0 || err != nil {
				t.Errorf("push with Plain: %d events, %v", events, err)
			}
		})
	}
}

func TestCopyOfAPlainSessionIsShipped(t *testing.T) {
	ann, _, memory := two(t)
	ann.create("one")
	ann.push()
	made, err := sessioncopy.Fork(t.Context(), ann.Dir, id, 0)
	if err != nil {
		t.Fatal(err)
	}
	r := replica.Replica{Hub: ann.Hub, Dir: ann.Dir, ID: made}
	if _, err := r.Push(t.Context(), false); err != nil || len(memory.Messages(r.Session())) == 0 {
		t.Errorf("push: %v", err)
	}
}

// A hub that was created again gets a session back in plain text only from a machine that may.
func TestLostSealedSessionIsNotShippedInPlainText(t *testing.T) {
	_, ben, memory := sealed(t)
	memory.Recreate()
	for range 2 {
		plain := (*hub.PlainError)(nil)
		if _, err := ben.Push(t.Context(), true); !errors.As(err, &plain) {
			t.Errorf("push: %v", err)
		}
		ben.pull()
	}
}
