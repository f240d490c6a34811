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
// Agents are not trusted to follow the protocol: a Client ignores messages that it does not
// understand and rejects requests that it does not support. It offers neither files nor terminals.
//
// The methods of a Client, except Answer and Dismiss, must not be called concurrently. Only Next and
// the methods with a context block. Output is read only during these calls, so an agent that is
// faster than its consumer blocks when its pipe is full. Only the types of the SDK are used: its
// connection reads ahead, fails when 1,024 notifications are queued, and may lose the last answer
// of a program that exits after it.
package acp
