package agent_test

// play has no roles where no test runs a program.
func play(string) int { return 99 }
