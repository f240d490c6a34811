package natstest

import (
	"errors"
	"net"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// FreePorts returns ports that no program listens on.
func FreePorts(n int) (ports []int, err error) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}

// Start starts a server with JetStream, which keeps its files in dir, and returns the URL for its clients. change
// changes its options, unless it is nil. stop stops it.
func Start(dir string, change func(*server.Options)) (url string, stop func(), err error) {
	o := &server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: dir, NoSigs: true, NoLog: true,
		SyncAlways: true,
	}
	if change != nil {
		change(o)
	}
	s, err := server.NewServer(o)
	if err != nil {
		return "", nil, err
	}
	s.Start()
	stop = func() {
		s.Shutdown()
		s.WaitForShutdown()
	}
	if !s.ReadyForConnections(time.Minute) {
		stop()
		return "", nil, errors.New("the server is not ready")
	}
	return s.ClientURL(), stop, nil
}
