package natstest

import (
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"

	"github.com/nats-io/nats-server/v2/server"
)

// Node is a server of a cluster that runs as a process of its own.
type Node struct {
	Name    string   `json:"name"`
	Client  int      `json:"client"`  // port for clients
	Cluster int      `json:"cluster"` // port for the other nodes
	Routes  []string `json:"routes"`  // addresses of the other nodes
	Dir     string   `json:"dir"`
}

// nodeVariable is the environment variable with the JSON form of the Node that Main runs.
const nodeVariable = "NATSTEST_NODE"

// Environment returns the variable for the process of the node.
func (n Node) Environment() string {
	data, err := json.Marshal(n)
	if err != nil {
		panic(err) // a struct of strings and numbers
	}
	return nodeVariable + "=" + string(data)
}

// Main runs a node until the process is killed.
func Main() {
	var n Node
	if err := json.Unmarshal([]byte(os.Getenv(nodeVariable)), &n); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	s, err := server.NewServer(&server.Options{
		ServerName: n.Name, Host: "127.0.0.1", Port: n.Client, JetStream: true, StoreDir: n.Dir, SyncAlways: true,
		NoSigs: true, NoLog: true,
		Cluster: server.ClusterOpts{
			Name: "nodes", Host: "127.0.0.1", Port: n.Cluster, NoAdvertise: true,
			Advertise: net.JoinHostPort("127.0.0.1", strconv.Itoa(1)), // nodes use only the routes that are named
			PoolSize:  -1,
		},
		Routes: routesOf(n.Routes),
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	s.Start()
	s.WaitForShutdown()
}

func routesOf(addresses []string) (routes []*url.URL) {
	for _, address := range addresses {
		routes = append(routes, &url.URL{Scheme: "nats", Host: address})
	}
	return routes
}
