package parse_test

import "testing"

// Kinds of damage that strangers to the code thought of.
func TestStrangersKinds(t *testing.T) {
	const list = `exec{"command":"ls"}`
	const body = `{"command":"ls"}`
	s := shipped.Strategies("")
	check(t, s, []row{
		// A turn that the model makes up for the user, and what it answers to it. In front of all else it is
		// an echo.
		{"<|channel|>final<|message|>Done.<|end|><|start|>user<|message|>Now list.<|end|><|start|>assistant<|channel|>commentary to=functions.exec<|message|>" + body + "<|call|>", "", "Done.", ""},
		{"<|start|>user<|message|>List.<|end|><|start|>assistant<|channel|>commentary to=functions.exec<|message|>" + body + "<|call|>", list, "", ""},
		// Tokens and words that are written twice.
		{"<|channel|><|channel|>commentarycommentary to=functions.exec <|constrain|><|constrain|>jsonjson<|message|><|message|>" + body + "<|call|><|call|>", list, "", ""},
		// A name in the place of the content type.
		{"<|channel|>final <|constrain|>exec<|message|>" + body + "<|call|>", list, "", ""},
		{"<|channel|>final <|constrain|>json<|message|>" + body, "", body, ""},
		// A token that a message names.
		{"<|channel|>final<|message|>See `<|end|>` and `<|return|>`.<|return|>", "", "See `<|end|>` and `<|return|>`.", ""},
		// A header without arguments.
		{"analysisI will list.assistantcommentary to=functions.exec", "", "", "I will list."},
		// What is glued behind a call.
		{"assistantcommentary to=functions.exec json" + body + "commentaryanalysisNo results.", list, "", ""},
		{"assistantcommentary to=functions.exec json" + body + "final Done.", list, "", ""},
		{"assistantcommentary to=functions.exec json" + body + "functions.exec to=assistantcommentary", list, "", ""},
		// A wrapper as all of the reply.
		{`assistant to=multi_tool_use.parallel {"tool_uses":[{"recipient_name":"functions.exec","parameters":` + body + `}]}`, list, "", ""},
		// Signs and marks in the header.
		{"assistantcommentary to=functions.exec  მაგრამ +#+#+#+#+#+#json\n" + body, list, "", ""},
		{"<|channel|>commentary \u200eto=functions.exec\u200e <|constrain|>json<|message|>" + body + "<|call|>", list, "", ""},
		{"commentaryĠto=functions.execĠjsonĊ" + body, list, "", ""},
		{"<|channel|>commentary▁to=functions.exec▁<|constrain|>json<|message|>" + body + "<|call|>", list, "", ""},
	})
}
