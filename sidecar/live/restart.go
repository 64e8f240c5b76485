package live

import (
	"reflect"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// codeRestart is the code of an edit that a running server does not take up.
const codeRestart = "W-restart"

// readAtStart is what the doc of a key says that is read at start only.
const readAtStart = "Read at start only."

// restart warns of what an edit changes, since a process began with some limits, and what that
// process reads at start only.
func restart(l, began *ruleset.Limits) (out rulefile.Problems) {
	is, was := reflect.ValueOf(l).Elem(), reflect.ValueOf(began).Elem()
	for _, section := range rulefile.Keys(is.Type()) {
		if section.Type.Kind() != reflect.Struct {
			continue
		}
		is, was := is.FieldByIndex(section.Index), was.FieldByIndex(section.Index)
		all := strings.Contains(section.Tag.Get("doc"), readAtStart)
		for _, f := range rulefile.Keys(section.Type) {
			if (all || strings.Contains(f.Tag.Get("doc"), readAtStart)) &&
				!is.FieldByIndex(f.Index).Equal(was.FieldByIndex(f.Index)) {
				in, _ := rulefile.KeyOf(section)
				key, _ := rulefile.KeyOf(f)
				out = append(out, rulefile.Problem{File: "limits.yaml", Code: codeRestart,
					Msg:  in + "." + key + " is read at start only",
					Hint: "restart the server; until then the value is the one before", Warning: true})
			}
		}
	}
	return out
}
