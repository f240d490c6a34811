package journaltest

// sys is nothing: package journal asks no more than size and time.
func sys(uint64) any { return nil }
