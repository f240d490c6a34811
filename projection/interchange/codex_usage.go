package interchange

import "github.com/agent-chatter/agent-chatter/projection"

// addTotal adds the difference to the tokens of the session so far. A smaller
// total is that of another run of the program.
func (c *codexReader) addTotal(total projection.Usage) {
	before := c.total
	if total.Input < before.Input || total.CachedRead < before.CachedRead || total.Output < before.Output {
		before = projection.Usage{}
	}
	c.total = total
	c.addUsage(projection.Usage{
		Input: total.Input - before.Input, CachedRead: total.CachedRead - before.CachedRead,
		CachedWrite: max(0, total.CachedWrite-before.CachedWrite), Output: total.Output - before.Output,
		Thought: max(0, total.Thought-before.Thought),
	})
}

// codexUsage returns tokens, of which a rollout counts the cached ones as input
// and the thoughts as output.
func codexUsage(v jsonValue) projection.Usage {
	input, output := v.field("input_tokens").tokens(), v.field("output_tokens").tokens()
	u := projection.Usage{
		CachedRead:  min(input, v.field("cached_input_tokens").tokens()),
		CachedWrite: v.field("cache_write_input_tokens").tokens(),
		Thought:     min(output, v.field("reasoning_output_tokens").tokens()),
	}
	u.CachedWrite = min(input-u.CachedRead, u.CachedWrite)
	u.Input, u.Output = input-u.CachedRead-u.CachedWrite, output-u.Thought
	return u
}
