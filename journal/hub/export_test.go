package hub

// Regressed reports whether the hub has fewer messages than it had, or was created again.
func (c Comparison) Regressed() bool { return c.regressed }

// MaxRow is the largest row in bytes.
const MaxRow = maxRow
