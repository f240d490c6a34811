#!/bin/sh
# An agent for tests: fails, and says so in one word.
cat >/dev/null
echo broken >&2
exit 1
