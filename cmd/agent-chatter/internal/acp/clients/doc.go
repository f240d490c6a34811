// Package clients tests the command acp with clients of the Agent Client Protocol from npm: the TypeScript SDK, which
// testdata/client.mjs uses, and acpx. It has no code. Editors (Zed, JetBrains, Neovim, Emacs) are not tested.
package clients
