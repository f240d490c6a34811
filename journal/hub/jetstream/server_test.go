package jetstream_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/agent-chatter/agent-chatter/journal/hub"
	"github.com/agent-chatter/agent-chatter/journal/hub/hubtest"
	"github.com/agent-chatter/agent-chatter/journal/hub/jetstream"
	"github.com/agent-chatter/agent-chatter/journal/hub/jetstream/natstest"
)

// start starts a server, stops it at the end of the test, and returns the URL for its clients.
func start(t *testing.T, change func(*server.Options)) (url string) {
	t.Helper()
	url, stop, err := natstest.Start(t.TempDir(), change)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return url
}

// open returns a function that connects to the hub of servers, which it creates.
func open(t *testing.T, o jetstream.Options, replicas int) func(*testing.T) hub.Engine {
	t.Helper()
	creating := o
	creating.Timeout = 2 * time.Second // servers that have no leader yet do not answer
	e, created, err := jetstream.Init(t.Context(), creating, replicas)
	for unavailable := (*hub.UnavailableError)(nil); errors.As(err, &unavailable); {
		e, created, err = jetstream.Init(t.Context(), creating, replicas)
	}
	if err != nil {
		t.Fatalf("created: %v, %v", created, err)
	}
	t.Cleanup(e.Close)
	return func(t *testing.T) hub.Engine {
		t.Helper()
		e, err := jetstream.Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(e.Close)
		return e
	}
}

func TestOneServer(t *testing.T) {
	url := start(t, nil)
	hubtest.Test(t, open(t, jetstream.Options{URLs: []string{url}}, 1))
}

func TestThreeServers(t *testing.T) {
	hubtest.Test(t, open(t, jetstream.Options{URLs: startThree(t), Timeout: 30 * time.Second}, 3))
}

// startThree starts three servers that form a cluster. Each needs the addresses of all before it starts.
func startThree(t *testing.T) (urls []string) {
	t.Helper()
	ports, err := natstest.FreePorts(3)
	if err != nil {
		t.Fatal(err)
	}
	var routes []string
	for _, port := range ports {
		routes = append(routes, fmt.Sprintf("nats://127.0.0.1:%d", port))
	}
	for i, port := range ports {
		urls = append(urls, start(t, func(o *server.Options) {
			o.ServerName = fmt.Sprintf("node%d", i)
			o.Cluster = server.ClusterOpts{Name: "nodes", Host: "127.0.0.1", Port: port}
			o.Routes = server.RoutesFromStr(strings.Join(routes, ","))
		}))
	}
	return urls
}
