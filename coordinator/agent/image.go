package agent

import (
	"encoding/base64"

	sdk "github.com/coder/acp-go-sdk"
)

// An Image is a picture of a message.
type Image struct {
	Label     string // how the prompt names it
	MediaType string // image/png, image/jpeg, image/gif or image/webp
	Data      []byte // at most Info.MaxImage
}

// The values of Info.MaxImage: what the APIs take.
const (
	claudeImage = 5 << 20 / 4 * 3 // Base64 of 5 MiB
	anyImage    = 20 << 20
)

// SettingImages is the Setting for Turn.Images that an agent does not take.
const SettingImages = "images"

// dataURL returns the picture as a URL.
func (i Image) dataURL() string {
	return "data:" + i.MediaType + ";base64," + base64.StdEncoding.EncodeToString(i.Data)
}

// imageBlocks returns the pictures of the turn, each after its label; none if the agent takes none.
func (t *acpTurn) imageBlocks() (blocks []sdk.ContentBlock) {
	if !t.TakesImages {
		return nil
	}
	for _, i := range t.turn.Images {
		data := base64.StdEncoding.EncodeToString(i.Data)
		blocks = append(blocks, sdk.TextBlock(i.Label), sdk.ImageBlock(data, i.MediaType))
	}
	return blocks
}
