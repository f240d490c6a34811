package catalogtest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// Sessions describes the sessions of one team. Each has a journal, and a lock
// file as after a chat that was closed. There are no checkpoints and no index,
// and nothing is synced.
type Sessions struct {
	Team     string        // id of the team; "": demo
	Count    int           // number of sessions
	Messages int           // messages in each; 0: 2
	Bytes    int           // length of each message; 0: 60
	Newest   time.Time     // end of the newest session; zero: 2026-11-21T12:00:00Z
	Apart    time.Duration // between the ends of two sessions; 0: a minute
	Seed     uint64        // the same seed gives the same sessions
	Usage    bool          // each reply is that of a turn that used tokens
}

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func (s Sessions) withDefaults() Sessions {
	if s.Team == "" {
		s.Team = "demo"
	}
	if s.Messages == 0 {
		s.Messages = 2
	}
	if s.Bytes == 0 {
		s.Bytes = 60
	}
	if s.Newest.IsZero() {
		s.Newest = noon
	}
	if s.Apart == 0 {
		s.Apart = time.Minute
	}
	return s
}

// Fill writes the sessions to the catalog in root and returns their ids, the
// most recently updated first.
func (s Sessions) Fill(root string) ([]string, error) {
	s = s.withDefaults()
	team := catalog.New(root, journal.Options{}).Team(s.Team)
	if err := os.MkdirAll(team.Journals().Path(), 0o700); err != nil {
		return nil, err
	}
	ids := make([]string, s.Count)
	failures := make([]error, s.Count)
	workers := runtime.GOMAXPROCS(0)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w; i < s.Count; i += workers {
				ids[i], failures[i] = s.write(team, i)
			}
		})
	}
	wg.Wait()
	return ids, errors.Join(failures...)
}

// write writes the session with n newer ones.
func (s Sessions) write(team *catalog.Dir, n int) (id string, err error) {
	ended := s.Newest.Add(-time.Duration(n) * s.Apart)
	began := ended.Add(-time.Duration(s.Messages) * time.Second)
	id = s.id(began, n)
	var lines []byte
	var at journal.Position
	for _, r := range s.records(id, began, n) {
		e, next, err := at.Next(r)
		if err != nil {
			return id, err
		}
		lines, at = append(append(lines, e.Line()...), '\n'), next
	}
	path := filepath.Join(team.Journals().Path(), id)
	return id, errors.Join(os.WriteFile(path+".jsonl", lines, 0o600), os.WriteFile(path+".lock", nil, 0o600))
}

func (s Sessions) id(began time.Time, n int) string {
	rng := rand.New(rand.NewPCG(s.Seed, uint64(n)))
	var id ulid.ULID
	id.SetTime(ulid.Timestamp(began))
	var entropy [10]byte
	for i := range entropy {
		entropy[i] = byte(rng.Uint32())
	}
	id.SetEntropy(entropy[:])
	return id.String()
}

func (s Sessions) records(id string, began time.Time, n int) []journal.Record {
	you := projection.Speaker{ID: "you", Name: "you", DisplayName: "You", Type: projection.TypeHuman}
	planner := projection.Speaker{ID: "planner", Name: "planner", DisplayName: "Planner", Type: projection.TypeAI}
	records := []journal.Record{projection.Record(began, projection.SessionCreated{
		Format: projection.Format, SessionID: id, CWD: "/home/you/project",
		App: projection.App{Name: "agent-chatter", Version: "test"},
		Team: projection.Team{ID: s.Team, Name: s.Team, Members: []projection.Member{
			{ID: you.ID, Name: you.Name, DisplayName: you.DisplayName, Type: you.Type},
			{
				ID: planner.ID, Name: planner.Name, DisplayName: planner.DisplayName, Type: planner.Type,
				AgentType: "demo",
			},
		}},
	})}
	for i := range s.Messages {
		by := []projection.Speaker{you, planner}[i%2]
		at := began.Add(time.Duration(i+1) * time.Second)
		m := projection.NewMessage(fmt.Sprintf("%s-%d", id, i), at, by, s.text(n, i), nil)
		turn := []projection.Payload{m}
		if s.Usage && by == planner {
			turn = used(s.id(at, n), m)
		}
		for _, p := range turn {
			records = append(records, projection.Record(at, p))
		}
	}
	return records
}

// used is the turn of a reply.
func used(id string, m projection.MessageAppended) []projection.Payload {
	m.TurnID = id
	return []projection.Payload{
		projection.TurnStarted{TurnID: id, MemberID: m.Message.Speaker.ID, AgentType: "claude", Model: "opus"},
		m,
		projection.TurnEnded{
			TurnID: id, MemberID: m.Message.Speaker.ID, FinishReason: projection.Done,
			Usage: &projection.Usage{
				Input: 1200, CachedRead: 34_000, Output: 560, Cost: &projection.Cost{Amount: 0.0625, Currency: "USD"},
			},
		},
	}
}

func (s Sessions) text(session, message int) string {
	text := fmt.Sprintf("Message %d of conversation %d: ", message+1, session+1)
	return text + strings.Repeat("words ", 1+max(0, s.Bytes-len(text))/6)[:max(0, s.Bytes-len(text))]
}
