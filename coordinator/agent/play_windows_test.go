package agent_test

// runAs has no roles: the tests that run a program are for unix.
func runAs(string) int { return 99 }

// findsDetached reports whether detached processes can be found.
const findsDetached = false
