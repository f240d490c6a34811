package agent_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	_ "image/jpeg"
	"image/png"
	"math/rand/v2"
	"regexp"
	"slices"
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

// noise returns a picture of random pixels, which no format makes smaller: about 3 MB.
func noise(t testing.TB) []byte {
	t.Helper()
	p := image.NewRGBA(image.Rect(0, 0, 1000, 1000))
	rand.NewChaCha8([32]byte{}).Read(p.Pix)
	for i := 3; i < len(p.Pix); i += 4 {
		p.Pix[i] = 255 // opaque
	}
	var b bytes.Buffer
	if err := png.Encode(&b, p); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A picture of 3 MB reaches the model of each agent that sends pictures: its bytes, or with Claude Code the picture as a
// JPEG, which is smaller.
func TestRealAgentsGetLargePictures(t *testing.T) {
	data := noise(t)
	sent := base64.StdEncoding.EncodeToString(data)
	takesPictures := func(a agenttest.Real) bool { return !strings.HasPrefix(a.Name, "opencode") }
	withReal(t, takesPictures, func(t *testing.T, a agenttest.Real, e agent.Engine, turn agent.Turn, m *agenttest.Model) {
		turn.Prompt, turn.Images = "What is it?", []agent.Image{{"[a.png, image/png, 3 MB]", "image/png", data}}
		for _, err := range e.Run(t.Context(), turn) {
			if err != nil {
				t.Fatal(err)
			}
		}
		if !strings.HasPrefix(a.Name, "claude") {
			if !m.Received(sent) {
				t.Error("the model did not receive the bytes")
			}
			return
		}
		var got []string
		for _, body := range m.Bodies() {
			for _, text := range regexp.MustCompile(`[A-Za-z0-9+/]{1000,}=*`).FindAllString(body, -1) {
				p, err := base64.StdEncoding.DecodeString(text)
				if err != nil {
					t.Fatal(err)
				}
				config, format, err := image.DecodeConfig(bytes.NewReader(p))
				got = append(got, fmt.Sprintf("%s of %d x %d, %v", format, config.Width, config.Height, err))
				t.Logf("received %d bytes: %s", len(p), got[len(got)-1])
			}
		}
		if !slices.Contains(got, "jpeg of 1000 x 1000, <nil>") {
			t.Errorf("the model received these pictures: %q", got)
		}
	})
}
