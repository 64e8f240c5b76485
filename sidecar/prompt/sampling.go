package prompt

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/tidwall/gjson"
)

// parameters are the members of a request about sampling. Others, such as tools, messages and streaming,
// cannot be set by rules.
var parameters = []string{
	"temperature", "top_p", "top_k", "min_p", "typical_p", "frequency_penalty", "presence_penalty",
	"repetition_penalty",
	"seed", "stop", "max_tokens", "max_completion_tokens", "reasoning_effort",
}

// ours are members that no setting may replace.
var ours = []string{"model", "messages", "tools", "tool_choice", "functions", "function_call", "stream",
	"stream_options", "n"}

// lengths are the two names of the maximum length of a reply.
var lengths = []string{"max_tokens", "max_completion_tokens"}

// sampling sets and limits parameters, rule by rule; those of the locked folder last.
func (d *draft) sampling(rules []compiled[requestRule, RequestFacts], defaults map[string]any) {
	now := map[string][]byte{}
	for _, r := range rules {
		for _, name := range slices.Sorted(maps.Keys(r.says.Set)) {
			if value, err := json.Marshal(r.says.Set[name]); err == nil && d.set(now, name, value) {
				d.done.made(r.editRule)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(r.says.Most)) {
			most, err := json.Marshal(r.says.Most[name])
			if err == nil && d.limit(now, name, most, defaults) {
				d.done.made(r.editRule)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		d.edits = append(d.edits, d.q.Set(name, now[name]))
	}
}

// set sets a member, and reports whether that changes it.
func (d *draft) set(now map[string][]byte, name string, value []byte) bool {
	if was, ok := d.value(now, name, nil); ok && string(was) == string(value) {
		return false
	}
	now[name] = value
	return true
}

// limit lowers a member. The maximum length has two names, and both are lowered; a request with neither
// gets one.
func (d *draft) limit(now map[string][]byte, name string, most []byte, defaults map[string]any) (did bool) {
	names, given := []string{name}, false
	if slices.Contains(lengths, name) {
		names = lengths
	}
	for _, n := range names {
		value, ok := d.value(now, n, defaults)
		v := gjson.ParseBytes(value)
		if ok && v.Type == gjson.Null {
			ok = false
		}
		given = given || ok
		if ok && (v.Type != gjson.Number || v.Num > gjson.ParseBytes(most).Num) {
			did = d.set(now, n, most) || did
		}
	}
	if !given && len(names) > 1 {
		did = d.set(now, name, most) || did
	}
	return did
}

// value returns the current value of a member.
func (d *draft) value(now map[string][]byte, name string, defaults map[string]any) ([]byte, bool) {
	if v, ok := now[name]; ok {
		return v, true
	}
	if at, ok := d.q.Field(name); ok {
		return at.Of(d.q.Body), true
	}
	if v, ok := defaults[name]; ok {
		raw, err := json.Marshal(v)
		return raw, err == nil
	}
	return nil, false
}
