package policy

import (
	"encoding/json"

	"github.com/tidwall/gjson"
)

// asking is the argument of OpenClaw's exec with which a person is asked first.
// Whatever else stands there, the gateway takes the stricter of it and its own setting.
const (
	asking = "ask"
	always = `"always"`
)

// WithAsk gives the arguments with which a person is asked before the call runs, and the
// name of the tool that runs: the one that a tool_call carries, if it carries one.
// takes says whether a tool has the argument for it. All other bytes stay as they are.
// ok is false where nobody can be asked like this.
func WithAsk(tool string, arguments []byte, takes func(tool string) bool) (asks []byte, ok bool) {
	if inner, args, carries := Carried(tool, arguments); carries {
		asks, ok = WithAsk(inner, args, takes)
		if !ok {
			return nil, false
		}
		return carrying(arguments, args, asks)
	}
	if !takes(tool) {
		return nil, false
	}
	return setAsk(arguments)
}

// carrying is a tool_call with the arguments of the call inside of it replaced. Where
// they stand beside the name, so does what is set.
func carrying(outer, was, now []byte) ([]byte, bool) {
	for _, key := range []string{"args", "input"} {
		spans := members(outer, key)
		if len(spans) == 0 {
			continue
		}
		at := spans[len(spans)-1]
		value := outer[at.from:at.to]
		var text string
		switch {
		case string(value) == "null":
			continue
		case json.Unmarshal(value, &text) == nil && text == string(was): // encoded twice
			encoded, err := json.Marshal(string(now))
			return splice(outer, at, encoded), err == nil
		case string(value) == string(was):
			return splice(outer, at, now), true
		}
		break // they are empty, and it is the members beside them that count
	}
	return setAsk(outer)
}

// setAsk sets the argument in an object: each time it stands there, because of several
// the last one counts.
func setAsk(object []byte) ([]byte, bool) {
	spans := members(object, asking)
	for i := len(spans) - 1; i >= 0; i-- {
		object = splice(object, spans[i], []byte(always))
	}
	if len(spans) > 0 {
		return object, true
	}
	root := gjson.ParseBytes(object)
	if !root.IsObject() {
		return nil, false
	}
	open := 0
	for object[open] != '{' {
		open++
	}
	set := `"` + asking + `":` + always
	if len(root.Map()) > 0 {
		set += ","
	}
	return splice(object, span{open + 1, open + 1}, []byte(set)), true
}

type span struct{ from, to int }

// members are the values of a key in an object.
func members(object []byte, key string) (out []span) {
	gjson.ParseBytes(object).ForEach(func(k, v gjson.Result) bool {
		if k.String() == key {
			out = append(out, span{v.Index, v.Index + len(v.Raw)})
		}
		return true
	})
	return out
}

// splice is a copy of doc with the bytes of a span replaced.
func splice(doc []byte, at span, with []byte) []byte {
	out := make([]byte, 0, len(doc)+len(with))
	out = append(out, doc[:at.from]...)
	out = append(out, with...)
	return append(out, doc[at.to:]...)
}
