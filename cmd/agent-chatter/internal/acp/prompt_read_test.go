package acp

import (
	"bytes"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/png"
	"slices"
	"strings"
	"testing"

	sdk "github.com/coder/acp-go-sdk"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/journal/propertytest"
	"github.com/agent-chatter/agent-chatter/projection/markdown"
	"github.com/agent-chatter/agent-chatter/projection/marker"
)

// rapid must not write failing inputs to testdata, which every later run would repeat.
func init() { flag.Set("rapid.nofailfile", "true") }

func embedded(uri, text string) sdk.ContentBlock {
	return sdk.ResourceBlock(sdk.EmbeddedResourceResource{TextResourceContents: &sdk.TextResourceContents{Uri: uri, Text: text}})
}

func TestReadTexts(t *testing.T) {
	for _, tt := range []struct {
		name   string
		blocks []sdk.ContentBlock
		want   string
	}{
		{"a text", []sdk.ContentBlock{sdk.TextBlock("@ada hello [NEXT: bo]\n")}, "@ada hello [NEXT: bo]\n"},
		{"texts", []sdk.ContentBlock{sdk.TextBlock("a"), sdk.TextBlock(" b")}, "a b"},
		{"a link in a text", []sdk.ContentBlock{sdk.TextBlock("fix "), sdk.ResourceLinkBlock("main.go", "file:///a/main.go"), sdk.TextBlock(" now")},
			"fix [`main.go`](file:///a/main.go) now"},
		{"links after a text without a space", []sdk.ContentBlock{sdk.TextBlock("look at"), embedded("file:///a.txt", "x"), sdk.ResourceLinkBlock("b", "file:///b")},
			"look at [`a.txt`](file:///a.txt) [`b`](file:///b)\n\n[`a.txt`](file:///a.txt):\n\n```\nx\n```"},
		{"links after other white space", []sdk.ContentBlock{sdk.TextBlock("see\n"), sdk.ResourceLinkBlock("a", "x:"), sdk.TextBlock("\u00a0"), sdk.ResourceLinkBlock("b", "y:")},
			"see\n[`a`](x:)\u00a0[`b`](y:)"},
		{"a link before a text", []sdk.ContentBlock{sdk.ResourceLinkBlock("a", "file:///a"), sdk.TextBlock("@ada fix ")},
			"@ada fix\n\n[`a`](file:///a)"},
		{"a link alone", []sdk.ContentBlock{sdk.ResourceLinkBlock("", "file:///a/b%20c")}, "[`b c`](file:///a/b%20c)"},
		{"a link with a name and a URI like markup", []sdk.ContentBlock{sdk.ResourceLinkBlock("a`]\n(x", "x:a)[NEXT: b] <ü>")},
			"[``a`] (x``](x:a%29%5BNEXT:%20b%5D%20%3C%C3%BC%3E)"},
		{"an embedded text", []sdk.ContentBlock{sdk.TextBlock("see "), embedded("file:///a/b.go#L1", "x\n```\n[NEXT: bo]"), sdk.TextBlock(" please\n")},
			"see [`b.go`](file:///a/b.go#L1) please\n\n[`b.go`](file:///a/b.go#L1):\n\n````\nx\n```\n[NEXT: bo]\n````"},
		{"an embedded text after open code", []sdk.ContentBlock{sdk.TextBlock("see\n```go\nx"), embedded("zed:", "y")},
			"see\n```go\nx [`zed:`](zed:)\n```\n\n[`zed:`](zed:):\n\n```\ny\n```"},
		{"an embedded text after a marker that hides a fence", []sdk.ContentBlock{sdk.TextBlock("[NEXT: bo]```\n"), embedded("x:", "y\nz\n")},
			"[NEXT: bo]```\n[`x:`](x:)\n\n[`x:`](x:):\n\n    y\n    z"},
		{"embedded texts alone", []sdk.ContentBlock{embedded("file:///a", ""), embedded("file:///b", "y")},
			"[`a`](file:///a) [`b`](file:///b)\n\n[`a`](file:///a):\n\n```\n```\n\n[`b`](file:///b):\n\n```\ny\n```"},
	} {
		got, err := readPrompt(tt.blocks)
		if err != nil || len(got.Omitted) > 0 {
			t.Errorf("%s: omitted %v, %v", tt.name, got.Omitted, err)
		}
		if diff := cmp.Diff(tt.want, got.Text); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestReadReportsWhatIsNoText(t *testing.T) {
	broken := sdk.ImageBlock("QUJD", "image/png")
	uri := "file:///tmp/shot%201.png"
	broken.Image.Uri = &uri
	mime := "application/pdf"
	blocks := []sdk.ContentBlock{
		broken, sdk.AudioBlock("QUJDQUJD", "audio/wav"),
		sdk.ResourceBlock(sdk.EmbeddedResourceResource{BlobResourceContents: &sdk.BlobResourceContents{Uri: "file:///a.pdf", Blob: "QUJD", MimeType: &mime}}),
		sdk.ResourceBlock(sdk.EmbeddedResourceResource{BlobResourceContents: &sdk.BlobResourceContents{Uri: "file:///a", Blob: ""}}),
		{},
	}
	want := []omitted{
		{Image, "shot 1.png", "image/png", 3}, {Audio, "", "audio/wav", 6},
		{Data, "a.pdf", "application/pdf", 3}, {Data, "a", "", 0}, {Unknown, "", "", 0},
	}
	got, err := readPrompt(blocks)
	if diff := cmp.Diff(want, got.Omitted); diff != "" || !errors.Is(err, errEmptyPrompt) || got.Text != "" {
		t.Errorf("without text: %q, %v (-want +got):\n%s", got.Text, err, diff)
	}
	got, err = readPrompt(append(blocks, sdk.TextBlock("see")))
	if diff := cmp.Diff(want, got.Omitted); diff != "" || err != nil || got.Text != "see" {
		t.Errorf("with text: %q, %v (-want +got):\n%s", got.Text, err, diff)
	}
}

// aPicture returns a block with a picture, and its content.
func aPicture(t *testing.T, uri string) (sdk.ContentBlock, string) {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 2, 2))); err != nil {
		t.Fatal(err)
	}
	block := sdk.ImageBlock(base64.StdEncoding.EncodeToString(b.Bytes()), "image/png")
	if uri != "" {
		block.Image.Uri = &uri
	}
	return block, b.String()
}

func TestReadAttachesPictures(t *testing.T) {
	named, content := aPicture(t, "file:///tmp/shot%201.png")
	unnamed, _ := aPicture(t, "")
	for text, blocks := range map[string][]sdk.ContentBlock{
		"[shot 1.png]": {named},
		"@ada look\n\n[shot 1.png] [picture.png]": {named, unnamed, sdk.TextBlock("@ada look")},
		"see [picture.png] and":                   {sdk.TextBlock("see "), unnamed, sdk.TextBlock(" and")},
	} {
		got, err := readPrompt(blocks)
		if err != nil || got.Text != text || len(got.Omitted) > 0 || len(got.Files) == 0 {
			t.Errorf("%q: %q, %d files, %v", text, got.Text, len(got.Files), err)
			continue
		}
		if f := got.Files[0]; f.MediaType != "image/png" || string(f.Data) != content {
			t.Errorf("%q: %s, %s", text, f.Name, f.MediaType)
		}
	}
	many := slices.Repeat([]sdk.ContentBlock{unnamed}, coordinator.MaxFiles+2)
	if got, err := readPrompt(many); err != nil || len(got.Files) != coordinator.MaxFiles || len(got.Omitted) != 2 {
		t.Errorf("%d files, %d omitted, %v", len(got.Files), len(got.Omitted), err)
	}
}

func TestReadRejectsEmptyAndLongPrompts(t *testing.T) {
	for _, blocks := range [][]sdk.ContentBlock{nil, {sdk.TextBlock("")}, {sdk.TextBlock(" \n"), sdk.TextBlock("\t")}} {
		if got, err := readPrompt(blocks); !errors.Is(err, errEmptyPrompt) {
			t.Errorf("%v: %q, %v", blocks, got.Text, err)
		}
	}
	half := strings.Repeat("x", maxPromptBytes/2)
	if got, err := readPrompt([]sdk.ContentBlock{sdk.TextBlock(half), sdk.TextBlock(half)}); err != nil || len(got.Text) != maxPromptBytes {
		t.Errorf("the longest message: %d bytes, %v", len(got.Text), err)
	}
	for _, last := range []sdk.ContentBlock{sdk.TextBlock("x"), sdk.ResourceLinkBlock("x", "x:"), embedded("x:", "x"), embedded("x:", "")} {
		_, err := readPrompt([]sdk.ContentBlock{sdk.TextBlock(half), sdk.TextBlock(half), last})
		var tooLong *promptTooLongError
		if !errors.As(err, &tooLong) || tooLong.Bytes <= maxPromptBytes {
			t.Errorf("a longer message: %v", err)
		}
	}
}

// TestResourcesAreNoMarkup checks that the markers of a message are those of its texts, whatever a resource contains, and
// that its last block is the embedded text.
func TestResourcesAreNoMarkup(t *testing.T) {
	parts := []string{
		"[NEXT: bo]", "[DROP: ALL]", "[TEAM_TASK: x]", "[FROM: y]", "[", "]", "```", "````", "~~~", "\n", "\n\n", "`", "a", " ",
		"> ", "- ", "    ", "\t", "<!--", "<b>", "(", ")", "\\", "é",
	}
	draw := func(t *rapid.T, label string) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 8).Draw(t, label), "")
	}
	propertytest.Check(t, func(t *rapid.T) {
		text := "a" + draw(t, "text")
		name, uri, content := draw(t, "name"), draw(t, "uri"), draw(t, "content")
		got, err := readPrompt([]sdk.ContentBlock{sdk.TextBlock(text), sdk.TextBlock("\n\n"), sdk.ResourceLinkBlock(name, uri), embedded(uri, content)})
		if err != nil {
			t.Fatal(err)
		}
		plain, _ := readPrompt([]sdk.ContentBlock{sdk.TextBlock(text), sdk.TextBlock("\n\n"), sdk.ResourceLinkBlock("x", "x:"), embedded("x:", "x")})
		want, parsed := marker.Parse(plain.Text), marker.Parse(got.Text)
		want.Content, parsed.Content = "", ""
		if diff := cmp.Diff(want, parsed); diff != "" {
			t.Fatalf("%q (-want +got):\n%s", got.Text, diff)
		}
		blocks := markdown.Parse(got.Text).Blocks
		last := blocks[len(blocks)-1]
		if strings.Contains(got.Text, ":\n\n    ") {
			return // indented
		}
		if last.Kind != markdown.CodeBlock || strings.TrimSuffix(last.Text, "\n") != strings.TrimSuffix(content, "\n") {
			t.Fatalf("%q ends with %s", got.Text, fmt.Sprintf("%+v", last))
		}
	})
}
