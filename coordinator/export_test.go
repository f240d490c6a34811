package coordinator

var (
	ErrEmptyMessage = errEmptyMessage
	ErrNoSuchHuman  = errNoSuchHuman
)

// SetMaxHeld sets how many bytes of events may be only in memory.
func (o *Options) SetMaxHeld(bytes int) { o.maxHeld = bytes }
