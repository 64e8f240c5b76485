package script

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The replies below are one call each, damaged as gpt-oss and its servers do it. args is the JSON object of
// the call and is not changed.

// LeakedHarmony is a call in Harmony tokens that the server passed on as text.
func LeakedHarmony(name, args string) Reply {
	return Text("<|channel|>commentary to=functions." + name + " <|constrain|>json<|message|>" + args +
		"<|call|>")
}

// LeakedTurn is a whole turn in Harmony tokens, with its reasoning.
func LeakedTurn(name, args string) Reply {
	return Text("<|channel|>analysis<|message|>A tool can tell me.<|end|><|start|>assistant" +
		LeakedHarmony(name, args).Content)
}

// FinalChannel is a call in the channel for the user.
func FinalChannel(name, args string) Reply {
	return Text("<|channel|>final to=functions." + name + " <|constrain|>json<|message|>" + args + "<|call|>")
}

// StrippedHarmony is a leaked turn without special tokens, which the detokenizer removed, so that channel
// names run into the text.
func StrippedHarmony(name, args string) Reply {
	return Text("analysisI need the tool for that.assistantcommentary to=functions." + name + " json" + args)
}

// InReasoning is a leaked call in the reasoning field, without content.
func InReasoning(name, args string) Reply {
	return Reply{Reasoning: LeakedHarmony(name, args).Content}
}

// LeakedFinal is an answer in Harmony tokens.
func LeakedFinal(text string) Reply {
	return Text("<|channel|>analysis<|message|>Nothing more to do.<|end|><|start|>assistant<|channel|>final<|message|>" + text + "<|return|>")
}

// ReAct is a call in the ReAct style.
func ReAct(name, args string) Reply {
	return Text("Thought: A tool can tell me.\nAction: " + name + "\nAction Input: " + args + "\n")
}

// GuidedJSON is a call in the form of a guided output schema.
func GuidedJSON(name, args string) Reply {
	return Text(fmt.Sprintf(`{"reasoning":"A tool can tell me.","tool_calls":[{"name":%s,"arguments":%s}],"done":false}`, quote(name), args))
}

// FencedJSON is a call object in a code fence.
func FencedJSON(name, args string) Reply {
	return Text(fmt.Sprintf("```json\n{\"name\": %s, \"arguments\": %s}\n```", quote(name), args))
}

// Marker is a call as [TOOL:name|key=value]. If args is no JSON object, the marker has none.
func Marker(name, args string) Reply {
	var fields map[string]any
	_ = json.Unmarshal([]byte(args), &fields)
	var b strings.Builder
	b.WriteString("[TOOL:" + name)
	for _, k := range slices.Sorted(maps.Keys(fields)) {
		fmt.Fprintf(&b, "|%s=%v", k, fields[k])
	}
	return Text(b.String() + "]")
}

// The functions below damage the arguments of a call.

// TrailingComma adds a comma before the last brace.
func TrailingComma(args string) string { return strings.TrimSuffix(args, "}") + ",}" }

// SingleQuoted replaces double quotes with single ones, as Python prints them.
func SingleQuoted(args string) string { return strings.ReplaceAll(args, `"`, "'") }

// renamed renames an argument.
func renamed(args, from, to string) string {
	return strings.Replace(args, quote(from)+":", quote(to)+":", 1)
}
