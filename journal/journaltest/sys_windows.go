package journaltest

// sys returns nil: there, package journal reads only size and time.
func sys(uint64) any { return nil }
