package catalog_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/catalog/catalogtest"
)

func ExampleCatalog_List() {
	home, err := os.MkdirTemp("", "catalog")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(home)
	if _, err := (catalogtest.Sessions{Count: 5, Apart: time.Hour}).Fill(home); err != nil {
		log.Fatal(err)
	}

	c := catalog.New(home, journal.Options{})
	for q := (catalog.Query{Damaged: catalog.Without, Limit: 3}); ; {
		page, err := c.List(context.Background(), q)
		if err != nil {
			log.Fatal(err)
		}
		for _, s := range page.Sessions {
			fmt.Println(s.UpdatedAt.Format(time.TimeOnly), s.MessageCount)
		}
		if page.Next == "" {
			break
		}
		fmt.Println("more:")
		q.After = page.Next
	}
	// Output:
	// 12:00:00 2
	// 11:00:00 2
	// 10:00:00 2
	// more:
	// 09:00:00 2
	// 08:00:00 2
}
