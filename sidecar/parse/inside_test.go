package parse_test

import "testing"

// A call may stand in a message that is shown, in any form; what quotes one stays.
func TestCallsInsideMessages(t *testing.T) {
	const a, object = `read{"path":"a"}`, `{"name":"read","arguments":{"path":"a"}}`
	final := func(s string) string { return "<|channel|>final<|message|>" + s + "<|return|>" }
	check(t, shipped.Strategies(""), []row{
		{final(object), a, "", ""},
		{final("I look.\n" + object), a, "I look.", ""},
		{final("```json\n" + object + "\n```"), a, "", ""},
		{final("<tool_call>" + object + "</tool_call>"), a, "", ""},
		{final("functions.read({\"path\":\"a\"})"), a, "", ""},
		{"<|channel|>commentary<|message|>I look.\n" + object + "<|call|>", a, "I look.", ""},
		{"assistantcommentaryI look.\n" + object, a, "I look.", ""},
		{"<|channel|>commentary<|message|>One.<|end|><|start|>assistant" + final("Two. "+object), a, "One.\n\nTwo.", ""},
		{final(object + " and then it was empty"), "", object + " and then it was empty", ""},
		{final("So:\n```\n" + object + "\n```\nThat is the form."), "", "So:\n```\n" + object + "\n```\nThat is the form.", ""},
		{final("Write `" + object + "` to read."), "", "Write `" + object + "` to read.", ""},
		{final("- " + object + "\n- more"), "", "- " + object + "\n- more", ""},
		// an answer in JSON is no call, even if it fits a tool
		{final(`{"path":"a"}`), "", `{"path":"a"}`, ""},
		{final(`{"answer":42}`), "", `{"answer":42}`, ""},
		{final("a <|constrain|>" + object), a, "a", ""},
		{"<|channel|>final<|message|>Done.<|return|", "", "Done.", ""},
	})
}
