// Package acp is a client of the Agent Client Protocol.
//
// A [Client] starts an agent's program and speaks JSON-RPC 2.0 over its standard input and output,
// one object in each line. It has one session at a time, and one prompt at a time in it:
//
//	c, err := acp.Start(program)
//	defer c.Process.Supervise(ctx, grace)()
//	err = c.Initialize(ctx)
//	err = c.NewSession(ctx, dir, model)
//	c.Prompt("What is new?")
//	for {
//		m, err := c.Next(ctx)
//		switch m := m.(type) {
//		case acp.Chunk: // text of the reply
//		case acp.ToolUpdate: // the agent uses a tool
//		case acp.PermissionRequest: // c.Answer or c.Dismiss
//		case acp.Result: // the end of the turn
//		}
//	}
//
// Agents are not trusted to keep to the protocol: what a Client does not understand it ignores,
// and requests that it does not support it refuses. It offers neither files nor terminals.
//
// The methods of a Client, except Answer and Dismiss, must not be called concurrently. Only Next and
// the methods with a context block: nothing is read while none of them waits, so that an
// agent is never further ahead of its consumer than its pipe is long. The connection of the SDK
// reads ahead instead, gives up when 1,024 notifications wait, and may lose the last answer of a
// program that exits after it; only the types of the SDK are used.
package acp
