package home

import (
	"slices"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
)

// HubSettings is where sessions are shipped to. The environment variable AGENT_CHATTER_HUB overrides URLs.
type HubSettings struct {
	URLs        []string `json:"urls"`        // of the servers; none: there is no hub
	Credentials string   `json:"credentials"` // path of a .creds file
	TLS         struct {
		CA   string `json:"ca"`   // path of the certificates that sign those of the servers
		Cert string `json:"cert"` // path of the client's certificate
		Key  string `json:"key"`  // path of its key
	} `json:"tls"`
	Mode    hubMode  `json:"mode"`    // default: async
	Teams   []string `json:"teams"`   // ids of the teams whose sessions are shipped; "*": all
	Timeout *Days    `json:"timeout"` // of an answer; default: 5s

	EncryptTo []string `json:"encryptTo"` // age recipients for which sessions are sealed; none: plain text
	Plain     bool     `json:"plain"`     // without EncryptTo, sealed sessions are continued in plain text
}

// hubMode is when a message counts as saved.
type hubMode string

// The values of hubMode; "" is async.
const (
	hubAsync hubMode = "async" // when it is on the local disk
	hubSync  hubMode = "sync"  // when the hub has acknowledged it, too, or the timeout has passed
)

// AllTeams stands for all teams in HubSettings.Teams.
const AllTeams = "*"

// Sync reports whether a message counts as saved only when the hub has acknowledged it.
func (h HubSettings) Sync() bool { return h.Mode == hubSync }

// Wait returns the timeout of an answer, 0 for the default.
func (h HubSettings) Wait() time.Duration {
	if h.Timeout == nil {
		return 0
	}
	return time.Duration(*h.Timeout)
}

// Ships reports whether the sessions in the directory of a team are shipped.
func (h HubSettings) Ships(directory string) bool {
	return slices.ContainsFunc(h.Teams, func(team string) bool {
		return team == AllTeams || journal.DirName(team) == directory
	})
}

// WithURLs returns h with other servers, separated by commas.
func (h HubSettings) WithURLs(urls string) HubSettings {
	h.URLs = strings.Split(urls, ",")
	return h
}

func (h HubSettings) check() error {
	switch {
	case h.Mode != "" && h.Mode != hubAsync && h.Mode != hubSync:
		return &rangeError{"hub.mode", `"async" or "sync"`}
	case slices.Contains(h.URLs, ""):
		return &rangeError{"hub.urls", `addresses such as "nats://hub.example.com:4222"`}
	case h.Timeout != nil && *h.Timeout <= 0:
		return &rangeError{"hub.timeout", `a duration such as "5s"`}
	case h.Plain && len(h.EncryptTo) > 0:
		return &rangeError{"hub.plain", "false if hub.encryptTo has recipients"}
	case (h.TLS.Cert == "") != (h.TLS.Key == ""):
		return &rangeError{"hub.tls", "both cert and key, or neither"}
	}
	return nil
}
