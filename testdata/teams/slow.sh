#!/bin/sh
# An agent for tests: answers one word every 200 ms for 10 seconds.
cat >/dev/null

n=1
while [ "$n" -le 50 ]; do
	printf 'word%d ' "$n"
	sleep 0.2
	n=$((n + 1))
done
printf '\n[NEXT: hugo]\n'
