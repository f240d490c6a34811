// Package chart draws what happened in a session: the turns of each member over time, with their tools, waiting and
// failures, and what they cost.
//
// A Chart is a fold over the rows of a projection.Timeline. Its size is bounded, whatever the length of the session:
// turns of a member that follow each other are drawn as one when there are too many.
package chart
