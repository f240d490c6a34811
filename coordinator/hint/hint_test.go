package hint_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/hint"
)

var retry = hint.Hint{Kind: hint.Slash, Argv: []string{"retry"}}

func TestWrapKeepsMessageAndTree(t *testing.T) {
	err := hint.Wrap(fs.ErrPermission, retry)
	if err.Error() != fs.ErrPermission.Error() || !errors.Is(err, fs.ErrPermission) {
		t.Errorf("wrapped as %v", err)
	}
	if hint.Wrap(nil, retry) != nil {
		t.Error("a nil error became one")
	}
}

// hintless is a Hinter that has no hint now.
type hintless struct{ error }

func (hintless) Hint() hint.Hint { return hint.Hint{} }

func TestOf(t *testing.T) {
	hinted := hint.Wrap(io.EOF, retry)
	other := hint.Hint{Kind: hint.Run, Argv: []string{"ls"}}
	for name, test := range map[string]struct {
		err  error
		want hint.Hint
	}{
		"nil":     {nil, hint.Hint{}},
		"none":    {io.EOF, hint.Hint{}},
		"zero":    {hintless{io.EOF}, hint.Hint{}},
		"direct":  {hinted, retry},
		"wrapped": {fmt.Errorf("turn 1: %w", hinted), retry},
		"joined":  {errors.Join(io.EOF, hinted), retry},
		"outer":   {hint.Wrap(hinted, other), other},
	} {
		got, ok := hint.Of(test.err)
		if got.Kind != test.want.Kind || !slices.Equal(got.Argv, test.want.Argv) || ok != (test.want.Kind != "") {
			t.Errorf("%s: %+v, %v", name, got, ok)
		}
	}
}

func ExampleJoin() {
	err := hint.Wrap(fs.ErrPermission, hint.Hint{Kind: hint.Run, Argv: []string{"chmod", "+x", "my agent$(reboot)"}})
	if h, ok := hint.Of(err); ok {
		fmt.Printf("%v\n  %s\n", err, hint.Join(h.Argv))
	}
	// Output:
	// permission denied
	//   chmod +x 'my agent$(reboot)'
}
