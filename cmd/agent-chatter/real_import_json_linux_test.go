package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// openCodeHome has no files of sessions: they are exported.
var openCodeHome = realHome{
	sessions: "exported",
	fill: func(h *homeFiller) {
		r := func(args ...string) []string { return append([]string{"run", "--auto"}, args...) }
		h.run(r("tool <<echo hi>>")...)
		h.run(r("--continue", "say <<again>>")...)
		h.run(r("--continue", "--file", h.picture(), "--", "say <<seen>>")...)
		h.interrupted(r("slow 100")...)
		exported := filepath.Join(h.m.Env["HOME"], "exported")
		if err := os.Mkdir(exported, 0o700); err != nil {
			h.t.Fatal(err)
		}
		for _, id := range regexp.MustCompile(`ses_\w+`).FindAllString(h.run("session", "list"), -1) {
			err := os.WriteFile(filepath.Join(exported, id+".jsonl"), []byte(h.run("export", id)), 0o600)
			if err != nil {
				h.t.Fatal(err)
			}
		}
	},
	count: countOpenCode,
	least: realCount{human: 4, replies: 3, tools: 1},
}

// countOpenCode counts in an exported session.
func countOpenCode(t *testing.T, path string) (c realCount) {
	data, err := os.ReadFile(path)
	var session object
	if err == nil {
		err = json.Unmarshal(data, &session)
	}
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	for _, m := range session.list("messages") {
		texts := 0
		for _, part := range m.list("parts") {
			switch {
			case part["type"] == "tool":
				c.tools++
			case part["type"] == "text" && part["synthetic"] != true:
				texts = 1
			}
		}
		if m.object("info")["role"] == "user" {
			c.human += texts
		} else {
			c.replies += texts
		}
		switch m.object("info").object("error")["name"] {
		case nil:
		case "MessageAbortedError":
			c.interrupted++
		default:
			c.apiErrors++
		}
	}
	return c
}

var piHome = realHome{
	sessions: ".pi/agent/sessions",
	fill: func(h *homeFiller) {
		h.run("tool <<echo hi>>")
		h.run("--continue", "say <<again>>")
		h.run("--continue", "@"+h.picture(), "say <<seen>>")
		h.interrupted("slow 100")
		h.fails("fail 400")
	},
	count: countPi,
	least: realCount{human: 4, replies: 3, tools: 1, apiErrors: 1}, // of an interrupted session Pi may write nothing
}

// countPi counts in a session without branches.
func countPi(t *testing.T, path string) (c realCount) {
	eachObject(t, path, func(o object) {
		message := o.object("message")
		texts := 0
		for _, block := range message.list("content") {
			switch block["type"] {
			case "text":
				texts = 1
			case "toolCall":
				c.tools++
			}
		}
		switch message["role"] {
		case "user":
			c.human += texts
		case "assistant":
			c.replies += texts
		}
		switch message["stopReason"] {
		case "aborted":
			c.interrupted++
		case "error":
			c.apiErrors++
		}
	})
	return c
}
