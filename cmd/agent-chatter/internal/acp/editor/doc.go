// Package editor gives the agents of a team the files and terminals of an editor that speaks the Agent Client Protocol
// with this program.
//
// What the editor has decides its client capabilities. Each session of the editor has an Editor of its own, since the
// editor decides by session which files and directories are meant.
package editor
