package agent_test

// play has no roles where no test runs a program.
func play(string) int { return 99 }

// sweeps reports whether what has left a process group can be found.
const sweeps = false
