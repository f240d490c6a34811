package agent

// A prose joins what an agent says in several messages of one turn: a blank line stands
// between two of them.
type prose struct {
	said  bool // something was said in this turn
	apart bool // what comes is another message
}

// say is the event of the next piece; none of nothing.
func (p *prose) say(piece string) []Event {
	if piece == "" {
		return nil
	}
	if p.said && p.apart {
		piece = "\n\n" + piece
	}
	p.said, p.apart = true, false
	return []Event{Text{piece}}
}

// end says that the message is over.
func (p *prose) end() { p.apart = true }
