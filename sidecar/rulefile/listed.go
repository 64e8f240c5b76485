package rulefile

import (
	"slices"
	"strconv"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/jsonc"
	"gopkg.in/yaml.v3"
)

// List adds a word to a list that stands below two keys of a rule file, as the first one in brackets, else as
// the last. It tells the line, from 1. A list that is not there is made, as the last one below the first key.
// The line is 0, and the text stays, where that cannot be said in this place.
func List(text, key, of, add string) (edited string, line int) {
	y, err := openYAML([]byte(text))
	if err != nil || lookUp(y.root, key) == nil {
		return text, 0
	}
	var out []byte
	switch list := lookUp(y.root, key, of); {
	case list == nil || isNull(list):
		out, err = SetYAML(y.text, jsonc.List{add}, key, of)
	case list.Kind != yaml.SequenceNode:
		return text, 0
	case list.Style&yaml.FlowStyle != 0 && len(list.Content) > 0:
		at := y.offset(list.Content[0].Line, list.Content[0].Column)
		out = slices.Concat(y.text[:at], []byte(flowValue(add)+", "), y.text[at:])
	default:
		out, err = SetYAML(y.text, add, key, of, strconv.Itoa(len(list.Content)))
	}
	if err != nil || yaml.Unmarshal(out, new(yaml.Node)) != nil {
		return text, 0
	}
	was, now := strings.Split(text, "\n"), strings.Split(string(out), "\n")
	for line < min(len(was), len(now)) && was[line] == now[line] {
		line++
	}
	return string(out), line + 1
}
