package store

import (
	"context"
	"errors"
	"slices"
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
// Open returns, beside the errors of Files: a *hub.ClaimedError if another machine has claimed the session; a
// *hub.PlainError if the session is sealed, and this machine could not seal what it adds; a *SplitError. A session of
// which the hub has messages that are not valid, or that this machine cannot read, is open unclaimed: the others were
// fetched.
type Replicated struct {
	*Files
	Connect func(context.Context) (*hub.Hub, error) // may be called repeatedly
	Ships   func(directory string) bool             // whether the sessions in the directory of a team are shipped

	AskTimeout time.Duration // of the question whether the hub has more than this machine; 0: it is not asked
	SyncWait   time.Duration // how long a save waits for the hub; 0: it does not
	ExitWait   time.Duration // how long a close waits for the hub; 0: it does not
	TakeOver   bool          // the next session that is opened ends the claim of another machine

	// Fetching, if set, is called before a session is fetched. It returns a function that is called after that.
	Fetching func() (end func())
	// Shipping, if set, is called before a close waits for the hub, likewise.
	Shipping func() (end func())

	mu   sync.Mutex
	open []*replicatedLog // the newest last
	last ReplicaStatus    // of the last log that was closed
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
	Waited    time.Duration // how long the close has waited for the hub; 0: the session is open
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
func (s *Replicated) Create(teamID, sessionID string) (Log, error) {
	log, err := s.Files.Create(teamID, sessionID)
	if err != nil {
		return nil, err
	}
	files := log.(*fileLog)
	if !s.ships(files.dir) {
		return log, nil
	}
	l := &replicatedLog{fileLog: files, store: s, teamID: teamID, origin: Created}
	s.opened(l)
	return l, nil
}

// Open implements Store. It fetches what the hub has more, and claims the session. If the hub does not answer within
// AskTimeout, the session is open unclaimed.
func (s *Replicated) Open(ctx context.Context, teamID, sessionID string) (Log, *projection.State, error) {
	for fetches := 0; ; fetches++ {
		log, state, err := s.Files.Open(ctx, teamID, sessionID)
		if err != nil {
			return nil, nil, err
		}
		files := log.(*fileLog)
		if !s.ships(files.dir) {
			return log, state, nil
		}
		w, err := s.claim(ctx, files, fetches > 0)
		switch {
		case ctx.Err() != nil:
			return nil, nil, errors.Join(context.Cause(ctx), files.log.Close())
		case needsFetch(err) && fetches < maxFetches:
			if err := files.log.Close(); err != nil {
				return nil, nil, err
			}
			// After damage of the hub, the claim returns it again.
			if err := s.fetch(ctx, files.replica(nil)); err != nil && !hub.IsDamage(err) && !isLineLimit(err) {
				return nil, nil, err
			}
			continue
		case mustNotContinue(err):
			return nil, nil, errors.Join(err, files.log.Close())
		}
		if w != nil {
			if err := files.log.SyncExisting(); err != nil { // only what is synced is shipped
				return nil, nil, errors.Join(err, files.log.Close())
			}
		}
		l := &replicatedLog{fileLog: files, store: s, teamID: teamID, origin: Resumed, writer: w, problem: err}
		l.takeOver, s.TakeOver = s.TakeOver, false
		if w != nil || files.replica(nil).Mark().Revision > 0 {
			l.origin = OnTheHub
		}
		s.opened(l)
		return l, state, nil
	}
}

// maxFetches bounds how often a session is fetched before it is opened: other machines may write meanwhile, and what
// the hub has may be too long for this one.
const maxFetches = 3

func isLineLimit(err error) bool { return errors.As(err, new(*hub.LineLimitError)) }

// claim claims a session whose journal is open. A session that is behind is a *hub.BehindError: the row on the hub says
// so before any line is read. After a fetch the row is ignored, since it may be wrong.
func (s *Replicated) claim(ctx context.Context, l *fileLog, fetched bool) (*hub.Writer, error) {
	r := l.replica(nil)
	row, err := s.ask(ctx, &r)
	if err != nil {
		return nil, err
	}
	if local := l.log.Position(); !fetched && !row.Purged && row.Head.Seq > local.Seq {
		return nil, &hub.BehindError{Session: r.Session(), Local: local, Hub: row.Head}
	}
	return r.Claim(ctx, s.TakeOver)
}

// ask connects a replica and returns its row on the hub, within AskTimeout. A row that cannot be read is no error.
func (s *Replicated) ask(ctx context.Context, r *replica.Replica) (hub.Row, error) {
	ctx, stop := context.WithTimeout(ctx, s.AskTimeout)
	defer stop()
	h, err := s.Connect(ctx)
	if err != nil {
		return hub.Row{}, err
	}
	r.Hub = h
	row, err := h.Row(ctx, r.Session())
	if row.Revision > 0 {
		err = nil
	}
	return row, err
}

// needsFetch reports whether a session has to be fetched before it can be claimed.
func needsFetch(err error) bool {
	return errors.As(err, new(*hub.BehindError)) || errors.As(err, new(*hub.DivergedError))
}

// mustNotContinue reports whether a session must not be continued here. A copy of a sealed session is continued, and
// stays here.
func mustNotContinue(err error) bool {
	plain := (*hub.PlainError)(nil)
	return errors.As(err, new(*hub.ClaimedError)) || errors.As(err, &plain) && !plain.Copy
}

func (s *Replicated) ships(dir *catalog.Dir) bool {
	return s.Ships(replica.Replica{Dir: dir}.Session().Team)
}

// replica returns the replica of a log's session.
func (l *fileLog) replica(h *hub.Hub) replica.Replica {
	return replica.Replica{Hub: h, Dir: l.dir, ID: l.log.ID()}
}

// fetch fetches a session. It is not bounded.
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

func (s *Replicated) opened(l *replicatedLog) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = append(s.open, l)
}

// Status returns the state of the session that was opened last and is open, or of the last one that was closed. ok is
// false if no session is shipped.
func (s *Replicated) Status() (status ReplicaStatus, ok bool) {
	s.mu.Lock()
	last := s.last
	var open *replicatedLog
	if n := len(s.open); n > 0 {
		open = s.open[n-1]
	}
	s.mu.Unlock()
	if open == nil {
		return last, last.SessionID != ""
	}
	return open.status(), true
}

// replicatedLog is the Log of Replicated.
type replicatedLog struct {
	*fileLog
	store    *Replicated
	teamID   string
	origin   Origin
	takeOver bool  // claiming ends the claim of another machine
	problem  error // why the session was not claimed when it was opened

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
	if status.Err == nil && !status.Claimed {
		status.Err = l.problem
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
		open := func() (hub.Local, error) {
			reader, err := l.dir.Journals().Reader(l.log.ID(), journal.Position{})
			if err != nil {
				return nil, err
			}
			return r.Journal(reader)
		}
		if l.writer != nil {
			l.shipper, l.writer = hub.NewShipper(l.writer, open, r.Keep), nil
			return l.shipper
		}
		claim := func(ctx context.Context) (w *hub.Writer, err error) {
			if r.Hub, err = l.store.Connect(ctx); err != nil {
				return nil, err
			}
			return r.Claim(ctx, l.takeOver)
		}
		l.shipper = hub.NewClaimingShipper(claim, open, r.Keep, r.Mark().At)
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
	last := ReplicaStatus{}
	if err == nil && (l.appended || l.ships()) {
		shipper, began := l.start(), time.Now()
		shipper.Synced(l.log.Synced(), replica.RowOfState(state))
		if l.store.Shipping != nil {
			defer l.store.Shipping()()
		}
		ctx, stop := context.WithTimeout(context.Background(), l.store.ExitWait)
		last = ReplicaStatus{SessionID: l.log.ID(), TeamID: l.teamID, Origin: l.origin}
		last.ShipStatus = shipper.Release(ctx)
		last.Waited = time.Since(began)
		stop()
	} else {
		l.stop()
	}
	l.store.closed(l, last)
	return l.fileLog.Close(state)
}

// stop stops the shipper: without the journal's lock nothing is shipped.
func (l *replicatedLog) stop() {
	l.mu.Lock()
	shipper := l.shipper
	l.mu.Unlock()
	if shipper != nil {
		shipper.Stop()
	}
}

// closed removes a log. Its status is kept if no other log is open.
func (s *Replicated) closed(l *replicatedLog, status ReplicaStatus) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = slices.DeleteFunc(s.open, func(other *replicatedLog) bool { return other == l })
	if len(s.open) == 0 {
		s.last = status
	}
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
