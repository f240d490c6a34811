// Command peer does what the figures compare agent-chatter with.
//
//	peer                    exits: the cost of any Go program
//	peer resume FILE        reads a session that is kept as one JSON file
//	peer save FILE          appends a message to it and rewrites the file
//	peer search TEXT FILE…  finds messages by decoding every line of journals
//	peer stream             an agent that writes 500 lines of Markdown per second
//	peer echo               a program on a terminal that only shows what is typed
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return nil
	}
	switch what, args := args[0], args[1:]; what {
	case "resume":
		s, err := load(args[0])
		fmt.Printf("%d messages loaded\n", len(s.Context.Messages))
		return err
	case "save":
		s, err := load(args[0])
		if err != nil {
			return err
		}
		last := s.Context.Messages[len(s.Context.Messages)-1]
		last.Content = "one more message"
		s.Context.Messages = append(s.Context.Messages, last)
		return s.save(args[0])
	case "search":
		return search(args[0], args[1:])
	case "stream":
		return stream()
	case "echo":
		return echo()
	}
	return errors.New("unknown command " + args[0])
}

// snapshot is a session as session-snapshot v1.0 has it.
type snapshot struct {
	SchemaVersion string  `json:"schemaVersion"`
	TeamID        string  `json:"teamId"`
	SessionID     string  `json:"sessionId"`
	CreatedAt     string  `json:"createdAt"`
	UpdatedAt     string  `json:"updatedAt"`
	Context       context `json:"context"`
}

type context struct {
	Messages  []message `json:"messages"`
	TeamTask  *string   `json:"teamTask"`
	Timestamp any       `json:"timestamp"`
	Version   any       `json:"version"`
}

type message struct {
	ID        string  `json:"id"`
	Timestamp string  `json:"timestamp"`
	Speaker   speaker `json:"speaker"`
	Content   string  `json:"content"`
	Routing   any     `json:"routing,omitempty"`
}

type speaker struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	DisplayName string `json:"displayName"`
	Type        string `json:"type"`
}

func load(path string) (s snapshot, err error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return s, err
	}
	return s, json.Unmarshal(content, &s)
}

// save replaces the file, without a sync.
func (s snapshot) save(path string) error {
	content, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".tmp", content, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".tmp", path)
}

// event is a line of a journal.
type event struct {
	Seq  uint64 `json:"seq"`
	Type string `json:"type"`
	Data struct {
		Message message `json:"message"`
	} `json:"data"`
}

func search(text string, paths []string) error {
	for _, path := range paths {
		if err := searchFile(text, path); err != nil {
			return err
		}
	}
	return nil
}

func searchFile(text, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	for lines := bufio.NewReaderSize(f, 1<<20); ; {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		var e event
		if err := json.Unmarshal(line, &e); err != nil {
			return err
		}
		if strings.Contains(e.Data.Message.Content, text) {
			fmt.Println(path, e.Seq, e.Data.Message.Content)
		}
	}
}

// reply is repeated by stream.
const reply = `## Heading

A paragraph begins in line %d and has **strong words**, ` + "`code`" + `
and a [link](https://example.com/kettle)
in three lines of text.

- an item in line %d of the reply
- an item with *emphasis* that is longer than the eighty columns that a terminal has by default
- an item in line %d of the reply

` + "```go" + `
// a comment in line %d of the reply
if err != nil {
	return fmt.Errorf("boil: %w", err)
}
` + "```" + `

`

// stream writes lines until it is stopped.
func stream() error {
	began := time.Now()
	for n := 0; ; n++ {
		line := strings.Split(reply, "\n")[n%strings.Count(reply, "\n")]
		if strings.Contains(line, "%d") {
			line = fmt.Sprintf(line, n)
		}
		time.Sleep(time.Until(began.Add(time.Duration(n) * 2 * time.Millisecond)))
		if _, err := fmt.Println(line); err != nil {
			return err
		}
	}
}

// echo draws what is typed, as a chat does, until it is stopped. Ctrl+U clears it.
func echo() error {
	settings, err := unix.IoctlGetTermios(0, unix.TCGETS)
	if err != nil {
		return err
	}
	settings.Lflag &^= unix.ICANON | unix.ECHO
	if err := unix.IoctlSetTermios(0, unix.TCSETS, settings); err != nil {
		return err
	}
	fmt.Print("you> ")
	typed := ""
	for buf := make([]byte, 1024); ; {
		n, err := os.Stdin.Read(buf)
		if err != nil {
			return err
		}
		typed += string(buf[:n])
		typed = typed[strings.LastIndex(typed, "\x15")+1:]
		fmt.Print("\r\x1b[Kyou> " + typed + "\x1b[7m \x1b[27m")
	}
}
