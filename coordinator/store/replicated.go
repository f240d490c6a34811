package store

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/hub"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/catalog/replica"
)

// Replicated is a Store of files whose sessions are shipped to a hub while they are open. The local journal is
// written first; a hub that cannot be reached delays nothing but the questions that have a bound.
//
// Open returns, beside the errors of Files: a *hub.ClaimedError if another machine has claimed the session;
// *hub.BadMessageError and *hub.GapError if the hub has lines that are not here and cannot be fetched; a
// *hub.SealedError or *hub.PlainError if this machine has no key for the session; a *SplitError.
type Replicated struct {
	*Files
	Connect func(context.Context) (*hub.Hub, error) // may be called repeatedly
	Ships   func(directory string) bool             // whether the sessions in the directory of a team are shipped

	Patience time.Duration // of the question whether the hub has more than this machine
	SyncWait time.Duration // how long a save waits for the hub; 0: it does not
	ExitWait time.Duration // how long a close waits for the hub
	TakeOver bool          // the next Open ends the claim of another machine

	// Fetching, if set, is called before a session is fetched. It returns a function that is called after that.
	Fetching func() (end func())

	mu      sync.Mutex
	open    *replicatedLog // the newest log
	problem error          // why it was not claimed when it was opened
	left    ReplicaStatus  // of the newest log that was closed
}

// SplitError reports that a session diverged from the hub: what was only here is a fork now.
type SplitError struct{ SessionID, Fork string }

func (e *SplitError) Error() string {
	return "session " + e.SessionID + " diverged from the hub: what was only here is session " + e.Fork
}

// ReplicaStatus is the state of a session on the hub.
type ReplicaStatus struct {
	hub.ShipStatus
	SessionID string
	TeamID    string
	Origin    Origin
}

// Origin is what is known of a session on the hub when it is opened.
type Origin int

// The values of Origin.
const (
	Created  Origin = iota // the session is new: the hub does not have it
	Resumed                // the session was never read from the hub, nor shipped
	OnTheHub               // the hub has the session
)

// Create implements Store.
func (s *Replicated) Create(teamID string) (Log, error) {
	log, err := s.Files.Create(teamID)
	if err != nil {
		return nil, err
	}
	return s.replicate(log.(*fileLog), teamID, Created, nil, nil), nil
}

// Open implements Store. It fetches what the hub has more, and claims the session.
func (s *Replicated) Open(ctx context.Context, teamID, sessionID string) (Log, *projection.State, error) {
	for {
		log, state, err := s.Files.Open(ctx, teamID, sessionID)
		if err != nil {
			return nil, nil, err
		}
		files := log.(*fileLog)
		if !s.ships(files.dir) {
			return log, state, nil
		}
		w, err := s.claim(ctx, files.replica(nil))
		switch {
		case fetches(err):
			if err := files.log.Close(); err != nil {
				return nil, nil, err
			}
			if err := s.fetch(ctx, files.replica(nil)); err != nil {
				return nil, nil, err
			}
			continue
		case refuses(err):
			return nil, nil, errors.Join(err, files.log.Close())
		}
		s.TakeOver = false
		if w != nil {
			if err := files.log.SyncExisting(); err != nil { // only what is synced is shipped
				return nil, nil, errors.Join(err, files.log.Close())
			}
		}
		origin := Resumed
		if w != nil || files.replica(nil).Mark().Revision > 0 {
			origin = OnTheHub
		}
		return s.replicate(files, teamID, origin, w, err), state, nil
	}
}

// fetches reports whether a session has to be fetched before it can be claimed.
func fetches(err error) bool {
	return errors.As(err, new(*hub.BehindError)) || errors.As(err, new(*hub.DivergedError))
}

// refuses reports whether a session must not be continued here. A copy of a sealed session is continued, and stays
// here.
func refuses(err error) bool {
	plain := (*hub.PlainError)(nil)
	return errors.As(err, new(*hub.ClaimedError)) || errors.As(err, new(*hub.GapError)) ||
		errors.As(err, new(*hub.BadMessageError)) || errors.As(err, new(*hub.SealedError)) ||
		errors.As(err, &plain) && !plain.Copy
}

func (s *Replicated) ships(dir *catalog.Dir) bool {
	return s.Ships(replica.Replica{Dir: dir}.Session().Team)
}

// replica returns the replica of a log's session.
func (l *fileLog) replica(h *hub.Hub) replica.Replica {
	return replica.Replica{Hub: h, Dir: l.dir, ID: l.log.ID()}
}

// claim claims a session whose journal is locked. It asks the hub for at most Patience.
func (s *Replicated) claim(ctx context.Context, r replica.Replica) (*hub.Writer, error) {
	ctx, stop := context.WithTimeout(ctx, s.Patience)
	defer stop()
	h, err := s.Connect(ctx)
	if err != nil {
		return nil, err
	}
	r.Hub = h
	return r.Claim(ctx, s.TakeOver)
}

// fetch fetches a session, however long that takes.
func (s *Replicated) fetch(ctx context.Context, r replica.Replica) error {
	if s.Fetching != nil {
		defer s.Fetching()()
	}
	h, err := s.Connect(ctx)
	if err != nil {
		return err
	}
	r.Hub = h
	pulled, err := r.Pull(ctx)
	switch {
	case err != nil:
		return err
	case pulled.Fork != "":
		return &SplitError{r.ID, pulled.Fork}
	case pulled.Diverged():
		return &hub.DivergedError{Session: r.Session(), Common: pulled.Common}
	}
	return pulled.Damage
}

// replicate returns a Log that ships what is saved. w is nil if the session was not claimed, because of problem.
func (s *Replicated) replicate(files *fileLog, teamID string, origin Origin, w *hub.Writer, problem error) Log {
	if !s.ships(files.dir) {
		return files
	}
	l := &replicatedLog{fileLog: files, store: s, teamID: teamID, origin: origin, writer: w}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open, s.problem = l, problem
	return l
}

// Status returns the state of the session that was opened last, also after it was closed. ok is false if no session is
// shipped.
func (s *Replicated) Status() (status ReplicaStatus, ok bool) {
	s.mu.Lock()
	l, problem, left := s.open, s.problem, s.left
	s.mu.Unlock()
	if l == nil {
		return left, left.SessionID != ""
	}
	status = l.status()
	if status.Err == nil && !status.Claimed {
		status.Err = problem
	}
	return status, true
}

// replicatedLog is the Log of Replicated.
type replicatedLog struct {
	*fileLog
	store  *Replicated
	teamID string
	origin Origin

	mu      sync.Mutex
	writer  *hub.Writer  // of the claim, until the shipper has it
	shipper *hub.Shipper // nil before the first save
}

func (l *replicatedLog) status() ReplicaStatus {
	l.mu.Lock()
	defer l.mu.Unlock()
	status := ReplicaStatus{SessionID: l.log.ID(), TeamID: l.teamID, Origin: l.origin}
	switch {
	case l.shipper != nil:
		status.ShipStatus = l.shipper.Status()
	case l.writer != nil:
		status.Claimed = l.writer.Claimed()
	}
	return status
}

// Save implements Log. It ships in the background, or waits for the hub if it has kept up so far.
func (l *replicatedLog) Save(state *projection.State) error {
	if err := l.fileLog.Save(state); err != nil {
		return err
	}
	if !l.appended && l.writer == nil && l.shipper == nil {
		return nil // nothing was written here
	}
	shipper := l.start()
	keptUp := shipper.Status().Lag == 0
	shipper.Synced(l.log.Synced(), replica.RowOfState(state))
	if l.store.SyncWait > 0 && keptUp {
		ctx, stop := context.WithTimeout(context.Background(), l.store.SyncWait)
		defer stop()
		shipper.Wait(ctx)
	}
	return nil
}

// start returns the shipper, which it starts at the first save.
func (l *replicatedLog) start() *hub.Shipper {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.shipper == nil {
		r := l.replica(nil)
		open := func() (*journal.Reader, error) { return l.dir.Journals().Reader(l.log.ID(), journal.Position{}) }
		claim := func(ctx context.Context) (*hub.Writer, error) { return l.store.claim(ctx, r) }
		l.shipper, l.writer = hub.NewShipper(l.writer, claim, open, r.Keep, r.Mark().At), nil
	}
	return l.shipper
}

// ships reports whether the session is claimed, or may be.
func (l *replicatedLog) ships() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.writer != nil || l.shipper != nil
}

// Close implements Log. It waits for the hub, for at most ExitWait, before it releases the journal's lock: only its
// holder ships.
func (l *replicatedLog) Close(state *projection.State) error {
	err := l.log.Sync()
	if errors.Is(err, journal.ErrClosed) {
		return nil
	}
	if err == nil && (l.appended || l.ships()) {
		shipper := l.start()
		shipper.Synced(l.log.Synced(), replica.RowOfState(state))
		ctx, stop := context.WithTimeout(context.Background(), l.store.ExitWait)
		status := shipper.Release(ctx)
		stop()
		l.store.closed(ReplicaStatus{status, l.log.ID(), l.teamID, l.origin})
	} else {
		l.store.closed(ReplicaStatus{})
	}
	return l.fileLog.Close(state)
}

func (s *Replicated) closed(left ReplicaStatus) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open, s.problem, s.left = nil, nil, left
}

// Split makes a fork of a closed session that diverged from the hub, and fetches the hub's history of it. It returns
// the id of the fork, "" if the session has not diverged.
func (s *Replicated) Split(ctx context.Context, teamID, sessionID string) (fork string, err error) {
	h, err := s.Connect(ctx)
	if err != nil {
		return "", err
	}
	pulled, err := replica.Replica{Hub: h, Dir: s.team(teamID), ID: sessionID}.Pull(ctx)
	return pulled.Fork, err
}
