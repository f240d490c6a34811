//go:build linux || darwin

package tty

import (
	"testing"

	"github.com/creack/pty"
)

func TestSizeIsUsualIfItIsUnknown(t *testing.T) {
	other, file, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	defer file.Close()
	for _, tt := range []struct {
		columns, rows         uint16
		wantColumns, wantRows int
	}{{0, 0, 80, 24}, {0, 10, 80, 24}, {10, 0, 80, 24}, {1, 1, 1, 1}, {120, 40, 120, 40}} {
		if err := pty.Setsize(file, &pty.Winsize{Cols: tt.columns, Rows: tt.rows}); err != nil {
			t.Fatal(err)
		}
		if columns, rows := size(file); columns != tt.wantColumns || rows != tt.wantRows {
			t.Errorf("%d columns and %d rows: %d and %d", tt.columns, tt.rows, columns, rows)
		}
		if columns, rows := NewOutput(file).Size(); columns != tt.wantColumns || rows != tt.wantRows {
			t.Errorf("the screen of %d columns and %d rows has %d and %d", tt.columns, tt.rows, columns, rows)
		}
	}
}
