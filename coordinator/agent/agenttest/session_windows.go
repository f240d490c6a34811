package agenttest

import "os/exec"

func apart(*exec.Cmd) {}

func ignoreSignals() {}
