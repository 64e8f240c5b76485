package parse

import (
	"encoding/json"

	"github.com/jgavinray/gpt-oss-executor/tools"
)

// Weighed is a text that may be a call, and what its signs made of it.
type Weighed struct {
	Field     string // of the reply
	At        int    // byte offset there
	Name      string // of the tool, as it is written
	Tool      string // the tool that it would call; empty: none takes it
	Arguments json.RawMessage
	Class     tools.Class
	Signs     Set
	Score     float64
	Decision  Decision
}

// Same says that two are one text, weighed twice.
func (w Weighed) Same(o Weighed) bool {
	return w.At == o.At && w.Field == o.Field && w.Signs == o.Signs && w.Name == o.Name &&
		string(w.Arguments) == string(o.Arguments)
}
