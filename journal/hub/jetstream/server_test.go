package jetstream_test

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/agent-chatter/agent-chatter/journal/hub"
	"github.com/agent-chatter/agent-chatter/journal/hub/hubtest"
	"github.com/agent-chatter/agent-chatter/journal/hub/jetstream"
)

// start starts a server and stops it at the end of the test.
func start(t *testing.T, change func(*server.Options)) *server.Server {
	t.Helper()
	o := &server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir(), NoSigs: true, NoLog: true,
		SyncAlways: true,
	}
	if change != nil {
		change(o)
	}
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	return s
}

// ready waits until a server accepts clients.
func ready(t *testing.T, s *server.Server) string {
	t.Helper()
	if !s.ReadyForConnections(time.Minute) {
		t.Fatal("the server is not ready")
	}
	return s.ClientURL()
}

// open returns a function that connects to the hub of servers, which it creates.
func open(t *testing.T, o jetstream.Options, replicas int) func(*testing.T) hub.Engine {
	t.Helper()
	e, created, err := jetstream.Init(t.Context(), o, replicas)
	for unavailable := (*hub.UnavailableError)(nil); errors.As(err, &unavailable); { // the servers have no leader yet
		e, created, err = jetstream.Init(t.Context(), o, replicas)
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
	url := ready(t, start(t, nil))
	hubtest.Test(t, open(t, jetstream.Options{URLs: []string{url}}, 1))
}

func TestThreeServers(t *testing.T) {
	var urls []string
	for _, s := range startThree(t) {
		urls = append(urls, ready(t, s))
	}
	hubtest.Test(t, open(t, jetstream.Options{URLs: urls, Timeout: 30 * time.Second}, 3))
}

// startThree starts three servers that form a cluster. Each needs the addresses of all before it starts.
func startThree(t *testing.T) (servers []*server.Server) {
	t.Helper()
	ports := freePorts(t, 3)
	var routes []string
	for _, port := range ports {
		routes = append(routes, fmt.Sprintf("nats://127.0.0.1:%d", port))
	}
	for i, port := range ports {
		servers = append(servers, start(t, func(o *server.Options) {
			o.ServerName = fmt.Sprintf("node%d", i)
			o.Cluster = server.ClusterOpts{Name: "nodes", Host: "127.0.0.1", Port: port}
			o.Routes = server.RoutesFromStr(strings.Join(routes, ","))
		}))
	}
	return servers
}

// freePorts returns ports that no program listens on.
func freePorts(t *testing.T, n int) (ports []int) {
	t.Helper()
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports
}
