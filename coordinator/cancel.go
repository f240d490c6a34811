package coordinator

import "context"

// CancelTurn cancels the turn of a member that runs, and no other, and reports whether there is one. The queue is
// cleared when the other turns have ended, as after a failure. It may be called by any goroutine.
func (c *Coordinator) CancelTurn(memberID string) bool {
	running := c.running.Load()
	if running == nil {
		return false
	}
	for _, t := range *running {
		if t.item.member.ID != memberID {
			continue
		}
		select {
		case <-t.over:
		default:
			t.cancel(context.Canceled)
			return true
		}
	}
	return false
}
