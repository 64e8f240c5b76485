package noise

// Schema returns the JSON Schema of the tool's arguments.
func (t Tool) Schema() map[string]any {
	props, required := map[string]any{}, []string{}
	for _, p := range t.Params {
		kind := map[string]any{"type": "string"}
		switch p.Kind {
		case "int", "big":
			kind["type"] = "integer"
		case "float":
			kind["type"] = "number"
		case "bool":
			kind["type"] = "boolean"
		case "object":
			kind["type"] = "object"
		case "list":
			kind = map[string]any{"type": "array", "items": map[string]any{"type": "string"}}
		}
		props[p.Name] = kind
		required = append(required, p.Name)
	}
	return map[string]any{"type": "object", "properties": props, "required": required,
		"additionalProperties": false}
}

// value draws a value of a kind.
func (d *draft) value(kind string) any {
	switch kind {
	case "int":
		return 1 + d.IntN(5000)
	case "big":
		return int64(1)<<52 + d.Int64N(1<<52)
	case "float":
		return float64(d.IntN(100000)) / 100
	case "bool":
		return d.IntN(2) == 0
	case "list":
		list := make([]string, d.IntN(4))
		for i := range list {
			list[i] = pick(d.Rand, written().Values["text"])
		}
		return list
	case "object":
		inner := map[string]any{"note": pick(d.Rand, written().Values["text"]), "n": d.IntN(99)}
		if d.IntN(2) == 0 {
			inner["nested"] = map[string]any{"tags": []string{"a b", pick(d.Rand, written().Values["path"])},
				"open": true, "none": nil}
		}
		return inner
	}
	return pick(d.Rand, written().Values[kind])
}
