package assets

import (
	"bytes"
	"encoding/json"
	"flag"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the icons")

// The icon in units of icon.svg, which is 32 units wide: a bubble on a square with round corners.
const (
	iconUnits  = 32
	iconCorner = 7
	iconGround = 0x1f2430
	iconBubble = 0x8ec7ff
)

// inBubble reports whether a point is in the bubble: a rectangle with a triangle below it.
func inBubble(x, y float64) bool {
	return x >= 7 && x <= 25 && y >= 8 && y <= 20 || x >= 10 && y >= 20 && y-20 <= 15-x
}

// inSquare reports whether a point is in the square with round corners.
func inSquare(x, y float64) bool {
	dx := max(iconCorner-x, x-(iconUnits-iconCorner), 0)
	dy := max(iconCorner-y, y-(iconUnits-iconCorner), 0)
	return dx*dx+dy*dy <= iconCorner*iconCorner
}

// drawIcon returns the icon as a PNG so many pixels wide. A masked icon fills its square, of which a phone cuts an edge
// off: the bubble is smaller.
func drawIcon(t *testing.T, pixels int, masked bool) []byte {
	t.Helper()
	const samples = 4 // of a pixel, in each direction
	picture := image.NewNRGBA(image.Rect(0, 0, pixels, pixels))
	for i := range pixels * pixels {
		var bubble, square int
		for s := range samples * samples {
			at := func(pixel, sample int) float64 {
				return (float64(pixel) + (float64(sample)+0.5)/samples) * iconUnits / float64(pixels)
			}
			x, y := at(i%pixels, s%samples), at(i/pixels, s/samples)
			if masked || inSquare(x, y) {
				square++
			}
			if masked {
				x, y = 16+(x-16)*1.25, 16+(y-16)*1.25
			}
			if inBubble(x, y) {
				bubble++
			}
		}
		const all = samples * samples
		mix := func(shift uint) uint8 {
			return uint8(((iconBubble>>shift&0xff)*bubble + (iconGround>>shift&0xff)*(all-bubble) + all/2) / all)
		}
		picture.SetNRGBA(i%pixels, i/pixels, color.NRGBA{mix(16), mix(8), mix(0), uint8(square * 255 / all)})
	}
	var out bytes.Buffer
	if err := png.Encode(&out, picture); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestIcons compares the icons with icon.svg's shapes, drawn here. -update writes them.
func TestIcons(t *testing.T) {
	for name, of := range map[string]struct {
		pixels int
		masked bool
	}{"icon-192.png": {192, false}, "icon-512.png": {512, false}, "icon-mask-512.png": {512, true}} {
		want := drawIcon(t, of.pixels, of.masked)
		if *update {
			if err := os.WriteFile(name, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(name); err != nil || !samePicture(t, got, want) {
			t.Errorf("%s is not the icon (%v): go test -run Icons -update", name, err)
		}
	}
}

// samePicture compares pixels: another version of Go may compress them differently.
func samePicture(t *testing.T, a, b []byte) bool {
	t.Helper()
	return bytes.Equal(pixels(t, a), pixels(t, b))
}

// pixels returns the pixels of a PNG.
func pixels(t *testing.T, data []byte) []byte {
	t.Helper()
	decoded, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	picture := image.NewNRGBA(decoded.Bounds())
	draw.Draw(picture, picture.Rect, decoded, image.Point{}, draw.Src)
	return picture.Pix
}

// TestManifest checks that the files that the manifest names exist.
func TestManifest(t *testing.T) {
	data, err := files.ReadFile("manifest.webmanifest")
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct {
		Icons []struct{ Src string }
	}
	if err := json.Unmarshal(data, &manifest); err != nil || len(manifest.Icons) != 4 {
		t.Fatalf("%d icons, %v", len(manifest.Icons), err)
	}
	for _, icon := range manifest.Icons {
		if _, err := files.ReadFile(strings.TrimPrefix(icon.Src, "/")); err != nil {
			t.Error(err)
		}
	}
}
