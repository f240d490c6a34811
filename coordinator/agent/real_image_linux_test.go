package agent_test

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/agenttest"
)

// picture returns a small picture of many colors.
func picture(t testing.TB) []byte {
	t.Helper()
	p := image.NewRGBA(image.Rect(0, 0, 16, 16))
	for i := range 256 {
		p.Set(i%16, i/16, color.RGBA{uint8(i), uint8(i * 7), uint8(i * 31), 255})
	}
	var b bytes.Buffer
	if err := png.Encode(&b, p); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// The bytes of a picture reach the model of each agent. OpenCode sends them only to models of which it knows that they
// take pictures, which the stand-in is not.
func TestRealAgentsGetPictures(t *testing.T) {
	data := picture(t)
	sent := base64.StdEncoding.EncodeToString(data)
	withRealAgents(t, func(t *testing.T, a agenttest.Real, e agent.Engine, turn agent.Turn, model *agenttest.Model) {
		turn.Prompt, turn.Images = "What is it?", []agent.Image{{"[a.png, image/png, 1 kB]", "image/png", data}}
		refused := false
		for event, err := range e.Run(t.Context(), turn) {
			if err != nil {
				t.Fatal(err)
			}
			refused = refused || event == agent.Event(agent.Unsupported{Setting: agent.SettingImages})
		}
		got, named := model.Received(sent), model.Received("[a.png, image/png, 1 kB]")
		if got != !strings.HasPrefix(a.Name, "opencode") || !named || refused {
			t.Errorf("received: %v; its name: %v; said that it takes none: %v", got, named, refused)
		}
	})
}
