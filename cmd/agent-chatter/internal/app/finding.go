package app

// finding is what a check has found.
type Finding struct {
	Check string `json:"check"`
	State State  `json:"state"`
	What  string `json:"what"` // is the matter
	Help  string `json:"help"` // what helps; "" when nothing has to be done
}

type State string

const (
	StateOK    State = "ok"
	StateNote  State = "note" // good to know
	StateWrong State = "wrong"
)

func Fine(what string) Finding { return Finding{State: StateOK, What: what} }

func Note(what, help string) Finding { return Finding{State: StateNote, What: what, Help: help} }

func Wrong(what, help string) Finding { return Finding{State: StateWrong, What: what, Help: help} }
