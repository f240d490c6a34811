package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/live"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/web"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// A Conversation is one that another process hosts. It implements live.Shared.
type Conversation struct {
	session string
	client  *http.Client
}

var _ live.Shared = (*Conversation)(nil)

// ErrNotHosted is the error of a session whose writer takes no front ends.
var ErrNotHosted = errors.New("the process that has the session open takes no other front ends")

// The times that a process may take to answer. One that was stopped, as by Ctrl+Z, has a socket and never does.
const (
	attachTime = 3 * time.Second
	callTime   = 30 * time.Second // an agent may first have to take or refuse a line that is to be taken back
)

// Attach returns the conversation of a session that has a writer. It waits for nothing but the first answer, for a few
// seconds at most. The error wraps ErrNotHosted if the writer does not host it.
func Attach(ctx context.Context, home string, key catalog.Key, writer journal.Holder) (*Conversation, error) {
	if name, err := os.Hostname(); writer.PID == 0 || err != nil || name != writer.Host {
		return nil, ErrNotHosted
	}
	dir, err := directory(home)
	if err != nil {
		return nil, err
	}
	if err := check(dir); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotHosted, err)
	}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		c, err := new(net.Dialer).DialContext(ctx, "unix", socket(dir, writer.PID))
		if err != nil {
			return nil, err
		}
		if err := checkPeer(c.(*net.UnixConn), writer.PID); err != nil {
			c.Close()
			return nil, err
		}
		return c, nil
	}
	transport := &http.Transport{DialContext: dial, DisableKeepAlives: true}
	c := &Conversation{session: key.Name(), client: &http.Client{Transport: transport}}
	asking, cancel := context.WithTimeout(ctx, attachTime)
	defer cancel()
	if _, err := c.call(asking, "/complete", request{}); err != nil { // asks whether it is hosted
		return nil, fmt.Errorf("%w: %w", ErrNotHosted, err)
	}
	return c, nil
}

var errSilent = errors.New("the process that has the session open does not answer; perhaps it was stopped with Ctrl+Z")

// call sends a request.
func (c *Conversation) call(ctx context.Context, path string, body request) (answer response, err error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	got, err := c.post(ctx, path, body)
	if err != nil {
		return answer, err
	}
	defer got.Body.Close()
	if err := json.NewDecoder(io.LimitReader(got.Body, maxBody)).Decode(&answer); err != nil {
		return answer, err
	}
	switch {
	case answer.Kind == "answered":
		return answer, &live.AnsweredError{By: answer.By}
	case errorKinds[answer.Kind] != nil:
		return answer, errorKinds[answer.Kind]
	case answer.Error != "":
		return answer, errors.New(answer.Error)
	}
	return answer, nil
}

func (c *Conversation) post(ctx context.Context, path string, body request) (*http.Response, error) {
	body.Session = c.session
	data, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://conversation"+path, bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	got, err := c.client.Do(r)
	switch {
	case err == nil:
		return got, nil
	case ctx.Err() == nil:
		return nil, fmt.Errorf("%w: %w", live.ErrEnded, err)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, errSilent
	}
	return nil, err
}

// Enter implements live.Shared.
func (c *Conversation) Enter(in live.Input) error {
	_, err := c.call(context.Background(), "/enter", request{Input: in})
	return err
}

// TakeBack implements live.Shared.
func (c *Conversation) TakeBack(id string) (string, error) {
	answer, err := c.call(context.Background(), "/takeback", request{Line: id})
	return answer.Text, err
}

// Answer implements live.Shared.
func (c *Conversation) Answer(question string, a live.Answer) error {
	_, err := c.call(context.Background(), "/answer", request{Question: question, Answer: a})
	return err
}

// Cancel implements live.Shared.
func (c *Conversation) Cancel(member string) error {
	_, err := c.call(context.Background(), "/cancel", request{Member: member})
	return err
}

// Complete implements live.Shared.
func (c *Conversation) Complete(role web.Role, text string) live.Completion {
	answer, err := c.call(context.Background(), "/complete", request{Role: role, Text: text})
	if err != nil || answer.Completion.Choices == nil {
		return live.Completion{Choices: []live.Choice{}}
	}
	return answer.Completion
}

// Watch implements live.Shared. It ends with the process that hosts the conversation.
func (c *Conversation) Watch(ctx context.Context) iter.Seq[live.Update] {
	return func(yield func(live.Update) bool) {
		got, err := c.post(ctx, "/watch", request{})
		if err != nil {
			return
		}
		defer got.Body.Close()
		if got.StatusCode != http.StatusOK {
			return
		}
		lines := json.NewDecoder(got.Body)
		for {
			var u live.Update
			if lines.Decode(&u) != nil || !yield(u) {
				return
			}
		}
	}
}
