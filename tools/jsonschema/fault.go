package jsonschema

// Fault is one thing that is wrong with a value.
type Fault struct {
	At      []string // keys and indexes, from the value that was checked
	Keyword string   // "" where no single one says it; those with a name in them have it behind a blank

	Bound string   // what the keyword bounds the value by: a number, a pattern, a format
	Names []string // required: what is missing; additionalProperties: what is too much
	Want  []any    // enum, const
	Types []string // type: those allowed
	Got   string   // type: the one that came
}
