package tools

import (
	"fmt"
	"testing"
)

// What was sent with many requests is held once, and no more of it than fits.
func TestOwnSchemas(t *testing.T) {
	memo := NewSchemas(2)
	offered := func(n int) []Tool {
		return []Tool{{Name: "read", Parameters: fmt.Appendf(nil, `{"n":%d}`, n)}, {Name: "list"}}
	}
	first, second := NewCatalog(nil, memo, offered(1)).Own(), NewCatalog(nil, memo, offered(1)).Own()
	if &first[0].Parameters[0] != &second[0].Parameters[0] || string(first[0].Parameters) != `{"n":1}` ||
		first[1].Parameters != nil {
		t.Errorf("%s, %s", first, second)
	}
	for n := range 5 {
		NewCatalog(nil, memo, offered(n)).Own()
	}
	if memo.texts.Len() > 2 {
		t.Errorf("%d are held", memo.texts.Len())
	}
}
