#!/bin/sh
# An agent for tests: copies its prompt to $CAPTURE/<n>.txt, n = 1, 2, 3 and so on, and
# answers $REPLY. Without CAPTURE the prompt is discarded.
set -eu

if [ -n "${CAPTURE:-}" ]; then
	mkdir -p "$CAPTURE"
	n=1
	# noclobber creates the file only if it does not exist: two agents never share a number.
	until (set -C && : >"$CAPTURE/$n.txt") 2>/dev/null; do
		if [ ! -e "$CAPTURE/$n.txt" ]; then
			echo "cannot write $CAPTURE/$n.txt" >&2
			exit 1
		fi
		n=$((n + 1))
	done
	cat >"$CAPTURE/$n.txt"
else
	cat >/dev/null
fi

printf '%s\n' "${REPLY-ok [NEXT: hugo]}"
