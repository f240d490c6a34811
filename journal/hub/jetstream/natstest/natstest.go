package natstest

import (
	"errors"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

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
