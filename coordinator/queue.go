package coordinator

import "slices"

// item is one member who is to speak, and the message that asked for it.
type item struct {
	member  Member
	trigger trigger
}

// trigger is the message that a turn answers.
type trigger struct {
	id      string
	speaker string // as displayed
	text    string
}

// queue is who speaks next: first come, first served.
type queue []item

// push adds a member, unless the member is waiting already as the last one.
func (q *queue) push(i item) {
	if n := len(*q); n > 0 && (*q)[n-1].member.ID == i.member.ID {
		return
	}
	*q = append(*q, i)
}

func (q *queue) pop() item {
	first := (*q)[0]
	*q = slices.Delete(*q, 0, 1)
	return first
}

// drop takes a member out.
func (q *queue) drop(id string) {
	*q = slices.DeleteFunc(*q, func(i item) bool { return i.member.ID == id })
}
