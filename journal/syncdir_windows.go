package journal

// syncDir does nothing: Windows has no call that syncs a directory, and NTFS
// journals directory entries.
func syncDir(string) error { return nil }
