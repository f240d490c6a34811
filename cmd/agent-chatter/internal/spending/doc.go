// Package spending sums and prints what the turns of sessions used: tokens, and money as the agents reported it.
//
// What is unknown is not counted as 0: a sum that lacks something is a lower bound and says so.
package spending
