package agent

// A reply joins the messages of one turn: a blank line separates two of them.
type reply struct {
	started bool // some text was added
	ended   bool // the last message has ended
}

// text returns the event of the next piece; none for "".
func (r *reply) text(piece string) []Event {
	if piece == "" {
		return nil
	}
	if r.started && r.ended {
		piece = "\n\n" + piece
	}
	r.started, r.ended = true, false
	return []Event{Text{piece}}
}

// endMessage marks the end of a message.
func (r *reply) endMessage() { r.ended = true }
