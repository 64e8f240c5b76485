package script

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The readings below are one call each, as gpt-oss and its servers spoil it.
// args is the call's JSON object; it goes into the reply as it is.

// LeakedHarmony is a call whose channel tokens the server passed on as text.
func LeakedHarmony(name, args string) Reply {
	return Text("<|channel|>commentary to=functions." + name + " <|constrain|>json<|message|>" + args +
		"<|call|>")
}

// LeakedTurn is a whole turn in channel tokens, chain of thought and all.
func LeakedTurn(name, args string) Reply {
	return Text("<|channel|>analysis<|message|>A tool can tell me.<|end|><|start|>assistant" +
		LeakedHarmony(name, args).Content)
}

// FinalChannel is a call in the channel that is meant for the user.
func FinalChannel(name, args string) Reply {
	return Text("<|channel|>final to=functions." + name + " <|constrain|>json<|message|>" + args + "<|call|>")
}

// StrippedHarmony is a leaked turn from which the detokenizer took the special
// tokens, so that channel names stick to the text.
func StrippedHarmony(name, args string) Reply {
	return Text("analysisI need the tool for that.assistantcommentary to=functions." + name + " json" + args)
}

// InReasoning is a leaked call in the reasoning field, without any content.
func InReasoning(name, args string) Reply {
	return Reply{Reasoning: LeakedHarmony(name, args).Content}
}

// LeakedFinal is an answer in channel tokens.
func LeakedFinal(text string) Reply {
	return Text("<|channel|>analysis<|message|>Nothing more to do.<|end|><|start|>assistant<|channel|>final<|message|>" + text + "<|return|>")
}

// ReAct is a call in the prompting style of that name.
func ReAct(name, args string) Reply {
	return Text("Thought: A tool can tell me.\nAction: " + name + "\nAction Input: " + args + "\n")
}

// GuidedJSON is a call as the guided output schema shapes it.
func GuidedJSON(name, args string) Reply {
	return Text(fmt.Sprintf(`{"reasoning":"A tool can tell me.","tool_calls":[{"name":%s,"arguments":%s}],"done":false}`, quote(name), args))
}

// FencedJSON is a call object in a code fence.
func FencedJSON(name, args string) Reply {
	return Text(fmt.Sprintf("```json\n{\"name\": %s, \"arguments\": %s}\n```", quote(name), args))
}

// Marker is a call as [TOOL:name|key=value]. Arguments that are no JSON object
// make it a marker without any.
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

// TrailingComma leaves a comma before the last brace.
func TrailingComma(args string) string { return strings.TrimSuffix(args, "}") + ",}" }

// SingleQuoted writes Python's quotes.
func SingleQuoted(args string) string { return strings.ReplaceAll(args, `"`, "'") }

// renamed calls an argument by another name.
func renamed(args, from, to string) string {
	return strings.Replace(args, quote(from)+":", quote(to)+":", 1)
}
