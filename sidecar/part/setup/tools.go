package setup

import (
	"encoding/json"
	"maps"
	"slices"
)

// toolbox is what the caller offers, OpenClaw's three most used tools: name → arguments, all
// of them texts and required.
func toolbox() map[string][]string {
	return map[string][]string{"exec": {"command"}, "read": {"path"}, "write": {"content", "path"}}
}

// offered is the toolbox as a request holds it.
func offered() []any {
	var out []any
	box := toolbox()
	for _, name := range slices.Sorted(maps.Keys(box)) {
		properties := map[string]any{}
		for _, arg := range box[name] {
			properties[arg] = json.RawMessage(`{"type":"string"}`)
		}
		out = append(out, map[string]any{"type": "function", "function": map[string]any{
			"name": name,
			"parameters": map[string]any{"type": "object", "properties": properties, "required": box[name],
				"additionalProperties": false},
		}})
	}
	return out
}
