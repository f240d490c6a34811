// Package process runs the programs of turns, each in a process group, and ends what they
// started.
//
// A [Process] is a running program with its group and its three standard files. On Windows the
// group is the program alone. A Process belongs to one turn: it and everything that it starts carry
// the turn's id in [TurnVariable].
//
// # Ending
//
// When the context is done the group gets SIGTERM and after a grace period SIGKILL; when the program
// exits the rest of its group gets SIGKILL. Agents run their tools in sessions of
// their own, where a signal to the group does not reach them. On Linux these detached processes
// are found by TurnVariable, or as descendants of the program, and killed if the turn was stopped.
// If the program exits by itself they keep running: a server that an agent was asked to start is
// meant to stay.
//
// # Orphans
//
// A turn's processes also carry AGENT_CHATTER_OWNER, which identifies the process that started the
// turn. When the owner has died its processes are orphans: [EndOrphans] and [EndResidents] end
// them, on Linux only. While the owner lives they are left alone, so that a second process with
// a copy of the session does not end them.
//
// On Linux a [Guard] ends the processes of a turn as soon as their owner dies, also when it is killed.
// It does not find a process that has removed TurnVariable from its environment.
package process
