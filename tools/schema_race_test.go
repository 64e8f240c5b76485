package tools

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"
)

// Requests that bring the same new schema at the same time get one that nothing changes any more.
func TestSchemasTogether(t *testing.T) {
	s := NewSchemas(4)
	for i := range 50 {
		text := json.RawMessage(fmt.Sprintf(`{"type":"object","required":["r%d"]}`, i))
		var asking sync.WaitGroup
		for range 4 {
			asking.Go(func() {
				if of := s.of(s.text(text)); of == nil || len(of.required) != 1 {
					t.Errorf("%s: %+v", text, of)
				}
			})
		}
		asking.Wait()
	}
}
