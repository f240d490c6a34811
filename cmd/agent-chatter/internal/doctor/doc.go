// Package doctor has the command that checks the home and its surroundings: permissions,
// locks, disk space, configuration, agents, and the ends of the sessions.
package doctor
