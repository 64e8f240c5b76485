package setup

import (
	"encoding/json"
	"maps"
	"slices"
)

// toolbox returns OpenClaw's three most used tools: name → arguments, all required texts.
func toolbox() map[string][]string {
	return map[string][]string{"exec": {"command"}, "read": {"path"}, "write": {"content", "path"}}
}

// offered returns the toolbox as a request has it.
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
