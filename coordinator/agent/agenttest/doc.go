// Package agenttest has agents and a model to test with: an agent that speaks the Agent Client
// Protocol and does what the prompt tells it, good or bad, and a server that answers as the APIs
// of the models' vendors do.
//
// The agent is the test binary itself, started again: TestMain has to call [Play] before
// anything else, and a member made by [Member] runs it. Nothing has to be built or installed,
// and it works wherever tests do.
package agenttest
