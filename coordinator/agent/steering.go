package agent

import "sync"

// A Steerable is a Session whose agent takes messages while its turn runs.
type Steerable interface {
	Session
	// Steer sends a message to the running turn, and returns false if no turn can take it now. It does not block, and
	// may be called while Turn runs. When the agent has taken the message, the turn yields Taken. A message that it has
	// not taken at the end of the turn is not part of the session.
	Steer(id, text string) bool
}

// Taken reports that the agent has taken a message of Steerable.Steer.
type Taken struct{ ID string }

func (Taken) event() {}

// maxSteered is how many messages can wait at the same time until the agent takes them.
const maxSteered = 20

// steering has the messages that are added to the running turn. Its methods may be called concurrently.
type steering struct {
	mu      sync.Mutex
	send    func(uuid, text string) // nil: no turn can take a message
	waiting map[string]string       // the ids of the messages that the agent has not taken, by its UUIDs
}

// begin makes send deliver the messages.
func (s *steering) begin(send func(uuid, text string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.send, s.waiting = send, map[string]string{}
}

// add sends a message, unless no turn can take it.
func (s *steering) add(id, text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.send == nil || len(s.waiting) >= maxSteered {
		return false
	}
	uuid := newUUID()
	s.waiting[uuid] = id
	s.send(uuid, text)
	return true
}

// take returns the event of a message that the agent has taken; none for others.
func (s *steering) take(uuid string) []Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, ok := s.waiting[uuid]
	if !ok {
		return nil
	}
	delete(s.waiting, uuid)
	return []Event{Taken{id}}
}

// end reports whether the agent has taken all messages. Then the turn takes no more.
func (s *steering) end() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiting) > 0 {
		return false
	}
	s.send = nil
	return true
}

// stop makes the turn take no more messages, and reports whether the agent has taken all.
func (s *steering) stop() (all bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all = len(s.waiting) == 0
	s.send, s.waiting = nil, nil
	return all
}
