package process

import (
	"os"
	"testing"
)

func TestGuardedIsTrueOnlyOfAGuard(t *testing.T) {
	args, stdin := os.Args, os.Stdin
	t.Cleanup(func() { os.Args, os.Stdin = args, stdin })
	nothing, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer nothing.Close()
	os.Stdin = nothing
	for _, tt := range []struct {
		args []string
		want bool
	}{
		{[]string{"agent-chatter", guardArgument, "none"}, true},
		{[]string{"agent-chatter", guardArgument}, false},
		{[]string{"agent-chatter", "chat", "none"}, false},
	} {
		if os.Args = tt.args; Guarded() != tt.want {
			t.Errorf("Guarded() of %q is not %t", tt.args, tt.want)
		}
	}
}
