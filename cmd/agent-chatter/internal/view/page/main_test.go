package page

import (
	"os"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	time.Local = time.UTC // items have local times
	os.Exit(m.Run())
}
