package acptest_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/acp/acptest"
)

func TestTapChecksWhatPasses(t *testing.T) {
	const asked = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}` + "\n" + "garbage\n"
	const answered = `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}` + "\n" + `{"jsonrpc":"2.0","id":0,"result":{}}` + "\n"
	var written bytes.Buffer
	var reported []string
	in, out := newRecording(t).Tap(iotest.OneByteReader(strings.NewReader(asked)), &written, func(from acptest.Side, err error) {
		reported = append(reported, fmt.Sprintf("%s: %.30s", from, err))
	})
	if got, err := io.ReadAll(in); err != nil || string(got) != asked {
		t.Errorf("read %q, %v", got, err)
	}
	for at := range 10 { // lines and calls of Write do not coincide
		size := len(answered)/10 + 1
		io.WriteString(out, answered[min(at*size, len(answered)):min((at+1)*size, len(answered))])
	}
	if written.String() != answered {
		t.Errorf("wrote %q", written.String())
	}
	want := []string{"client: invalid character 'g' looking ", "agent: no request has the id 0"}
	if len(reported) != 2 || reported[0] != want[0] || !strings.HasPrefix(reported[1], want[1]) {
		t.Errorf("reported %q, want %q", reported, want)
	}
}
