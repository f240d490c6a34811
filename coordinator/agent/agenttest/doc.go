// Package agenttest provides agents and a model for tests: an agent that speaks the Agent Client
// Protocol and follows instructions in the prompt, some of which violate the protocol; a [Model]
// that answers like the APIs of the models' vendors; and the [Real] agents, if they are installed.
//
// The agent is the test binary itself: TestMain must call [Play] first, and a member made by
// [Member] runs it. Nothing has to be built or installed.
package agenttest
