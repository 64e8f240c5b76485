package servers

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/jgavinray/gpt-oss-executor/internal/jsontext"
	"github.com/jgavinray/gpt-oss-executor/sidecar/script"
)

// ollamaParse is what Ollama makes of a reply. It reads a call when all has come: the arguments of all calls
// of a reply as one, and what is no JSON object is an error.
func ollamaParse(r script.Reply, _ *script.Request) script.Reply {
	if len(r.Calls) == 0 {
		return r
	}
	one := r.Calls[len(r.Calls)-1]
	one.Arguments = ""
	for _, c := range r.Calls {
		one.Arguments += c.Arguments
	}
	r.Calls = nil
	if r.Finish == "length" || r.End != script.Done {
		return r
	}
	args, err := ollamaEncode(one.Arguments)
	if err != nil {
		r.Err, r.End = script.OllamaParseError(one.Arguments).Err, script.Fault
		return r
	}
	one.Arguments = args
	r.Calls = []script.Call{one}
	return r
}

// ollamaEncode writes arguments as Ollama does: members keep their order, numbers become those of a float.
func ollamaEncode(args string) (string, error) {
	var object map[string]any
	if err := json.Unmarshal([]byte(args), &object); err != nil {
		return "", err
	}
	var names []string
	gjson.Parse(args).ForEach(func(name, _ gjson.Result) bool {
		if !slices.Contains(names, name.Str) {
			names = append(names, name.Str)
		}
		return true
	})
	members := make([]string, len(names))
	for i, name := range names {
		value, err := json.Marshal(object[name])
		if err != nil {
			return "", err
		}
		members[i] = jsontext.Quote(name) + ":" + string(value)
	}
	return "{" + strings.Join(members, ",") + "}", nil
}
