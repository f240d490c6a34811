package coordinator

var (
	ErrEmptyMessage = errEmptyMessage
	ErrNoSuchHuman  = errNoSuchHuman
)
