//go:build unix

package chattest

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A Place is a home with the team "asking", and a directory in which that works, which has a text and a picture.
type Place struct{ Home, Dir string }

// The files of the directory.
const (
	Note    = "notes.txt"
	Picture = "shot.png"
)

// NewPlace returns a place with the team of a file.
func NewPlace(t *testing.T, teamFile string) *Place {
	t.Helper()
	root, err := os.MkdirTemp("/tmp", "ac") // a short path, for the socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(root) })
	p := &Place{filepath.Join(root, "home"), filepath.Join(root, "work")}
	team, err := os.ReadFile(teamFile)
	if err != nil {
		t.Fatal(err)
	}
	team = bytes.ReplaceAll(team, []byte(`"baseDir": "."`), fmt.Appendf(nil, `"baseDir": %q`, p.Dir))
	teams := filepath.Join(p.Home, "team-config")
	err = errors.Join(os.MkdirAll(p.Dir, 0o700), os.MkdirAll(teams, 0o700),
		os.WriteFile(filepath.Join(teams, "asking.json"), team, 0o600),
		os.WriteFile(filepath.Join(p.Dir, Note), []byte("remember the milk"), 0o600),
		os.WriteFile(p.PicturePath(), picture(), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// PicturePath returns the path of the picture.
func (p *Place) PicturePath() string { return filepath.Join(p.Dir, Picture) }

// Command returns a command of a program that works in the place.
func (p *Place) Command(program string, args ...string) *exec.Cmd {
	c := exec.Command(program, args...)
	c.Dir = p.Dir
	c.Env = append(os.Environ(), "AGENT_CHATTER_HOME="+p.Home)
	return c
}

// Has reports whether the directory has a file.
func (p *Place) Has(name string) bool {
	_, err := os.Stat(filepath.Join(p.Dir, name))
	return err == nil
}

// picture returns a picture with two colours.
func picture() []byte {
	shot := image.NewRGBA(image.Rect(0, 0, 32, 24))
	for i := range 32 * 24 {
		shot.Set(i%32, i/32, color.RGBA{uint8(8 * (i % 32)), 128, 200, 255})
	}
	var b bytes.Buffer
	if err := png.Encode(&b, shot); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// root returns the directory around the home and the directory, which differs.
func (p *Place) root() string { return strings.TrimSuffix(p.Home, "/home") }
