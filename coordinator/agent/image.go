package agent

import "encoding/base64"

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
