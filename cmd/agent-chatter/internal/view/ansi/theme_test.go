package ansi

import "testing"

func TestThemes(t *testing.T) {
	line := Line{
		{Text: "red ", Style: Style{Color: Red}}, {Text: "yellow ", Style: Style{Color: Yellow, Bold: true}},
		{Text: "bright ", Style: Style{Color: BrightGreen}}, {Text: "grey ", Style: Style{Color: BrightBlack}},
		{Text: "white ", Style: Style{Color: White}}, {Text: "dim", Style: Style{Dim: true}},
	}
	for profile, want := range map[Profile]string{
		NoColor:      "red yellow bright grey white dim",
		Color16:      "\x1b[31mred \x1b[m\x1b[1;33myellow \x1b[m\x1b[92mbright \x1b[m\x1b[90mgrey \x1b[m\x1b[37mwhite \x1b[m\x1b[2mdim\x1b[m",
		Light:        "\x1b[31mred \x1b[m\x1b[1;35myellow \x1b[m\x1b[32mbright \x1b[m\x1b[90mgrey \x1b[mwhite \x1b[2mdim\x1b[m",
		HighContrast: "\x1b[1;31mred \x1b[m\x1b[1;33myellow \x1b[m\x1b[1;92mbright \x1b[mgrey \x1b[1;37mwhite \x1b[mdim",
		Monochrome:   "\x1b[1mred \x1b[m\x1b[1myellow \x1b[mbright grey white \x1b[2mdim\x1b[m",
	} {
		if got := profile.Encode(line); got != want {
			t.Errorf("profile %d: got %q, want %q", profile, got, want)
		}
	}
}
