package parse_test

import "testing"

// Parts of a call that stand where they do not belong.
func TestMisplaced(t *testing.T) {
	const a, ls = `read{"path":"a"}`, `exec{"command":"ls"}`
	check(t, shipped.Strategies(""), []row{
		// The recipient behind its arguments, or said twice.
		{`{"path":"a"}to=functions.read`, a, "", ""},
		{`assistant to=functions.read recipient_name=functions.read json {"path":"a"}`, a, "", ""},
		{`commentary to=functions.read to=functions.read json {"path":"a"}`, a, "", ""},
		{`commentary to=functions.read to=functions.exec json {"path":"a"}`, "", "commentary to=functions.read", ""},
		{`<|channel|>functions.read<|channel|>commentary json<|message|>{"path":"a"}<|call|>`, a, "", ""},

		// The token that ends calls opens one.
		{`<|call|>read {"path":"a"}`, a, "", ""},
		{`<|call|>{"id":"x","function":{"name":"read","arguments":"{\"path\":\"a\"}"}}<|end|>`, a, "", ""},
		{`Hello.<|call|>read {"path":"a"}`, "", "Hello.", ""},

		// Tokens of ChatML.
		{`<|im_start|>assistant to=functions.exec<|im_sep|>{"command":"ls"}<|im_end|>`, ls, "", ""},
		{"Hello.<|im_end|>", "", "Hello.", ""},

		// Debris of other scripts, with a body and without one.
		{"I look. to=functions.read კომენტary  北京赛车投注  天天中彩票有json\n{\"path\":\"a\"}", a, "I look.", ""},
		{"Done.\n\nnumerusform to=functions.read մեկնաբանություն  北京赛车开奖_json\n", "", "Done.\n\nnumerusform", ""},
		{"to=functions.exec  彩神争霸大发json\n{\"command\":\"make\"} 天天中 to=functions.exec 彩神json\n{\"command\":\"make\"}Oops", `exec{"command":"make"}`, "", ""},
		{"For example: to=functions.exec  彩神json\n{\"command\":\"make\"}", "", "For example:", ""},
		{"to=functions.exec json\n{\"command\":\"make\"} to=functions.exec json\n{\"command\":\"make\"}", `exec{"command":"make"}`, "", ""},
		{"- to=functions.read 彩神json {\"path\":\"a\"}", "", "- to=functions.read 彩神json {\"path\":\"a\"}", ""},
		// asked
		{"They saw \"to=functions.exec 彩神json{\"command\":\"make\"}\" in a chat.", "", "", "They saw \""},
		{"The header is to=functions.read", "", "The header is to=functions.read", ""},

		// Debris glued to a word, in front of the header, in any number; and of a tool that is not offered.
		{"中央値との差analysis to=functions.read даҩ  彩神争霸安卓 代理娱乐  კომენტary  天天中 彩票 怎么json\n{\"path\":\"a\"}", a, "", "中央値との差"},
		{"Use to=functions.exec {\"command\":\"make\"}", "", "Use", ""},
		{"Hello +#+#+#+#+#+assistant to=functions.web  კომენტary json\n{\"q\":1}", "", "", "Hello +#+#+#+#+#+"},

		{"ժմ to=functions.exec  天天中彩票json\n{\"command\":\"make\"}  sextreff to=functions.exec.commentary code\nChunk ID: 9\n", `exec{"command":"make"}`, "ժմ", ""},
		{`to=functions.exec json ="{"command":"make"}"}`, `exec{"command":"make"}`, "", ""},
		{`to=functions.exec json =\"{\"command\":\"make\"}\"}`, `exec{"command":"make"}`, "", ""},
		// nobody knows
		{`to=functions.exec json ="{"command":"echo "}"}"`, "", `to=functions.exec json ="{"command":"echo "}"}"`, ""},

		// A wrapper that is glued to a thought.
		{"<tool_call>We need to look.assistantcommentary to=functions.read json{\"path\":\"a\"}", a, "", "We need to look."},
		{"<tool_call> is a tag.", "", "<tool_call> is a tag.", ""},

		// A header without a body, and a sentence that names one.
		{"Good.analysis to=functions.exec code?", "", "Good.", ""},
		{"好的。analysis to=functions.exec code?", "", "好的。", ""},
		{"commentary to=functions.read analysisNo data.", "", "", "No data."},
		{"Done.\nassistant to=functions.read (commentary)\nNo.", "", "Done.\nNo.", ""},
		{" to=functions.read?", "", "", ""},
		{" to=functions.read \u200b\u200b \n\n\n", "", "", ""},
		{"<|channel|>commentary 2? It is a request to ask for.<|end|><|start|>assistant<|channel|>commentary to=functions.read<|message|>{\"path\":\"a\"}", a, "2? It is a request to ask for.", ""},
		{"The header is commentary to=functions.read", "", "The header is commentary to=functions.read", ""},
		{"A header:\ncommentary to=functions.read", "", "A header:\ncommentary to=functions.read", ""},

		// Text behind a command that only looks, and behind one that does not.
		{"to=functions.read json{\"path\":\"a\"}\nNext.", a, "", ""},
		{"to=functions.exec json{\"command\":\"ls\"}\nNext.", "", "", ""},

		// One word in front is no sentence; one that says something is.
		{`PREFIX <|start|>assistant<|channel|>commentary to=functions.read <|constrain|>json<|message|>{"path":"a"}<|call|> SUFFIX`, a, "PREFIX  SUFFIX", ""},
		{`Example <|start|>assistant<|channel|>commentary to=functions.exec <|constrain|>json<|message|>{"command":"ls"}<|call|> Done.`, "",
			"Example  Done.", ""}, // asked
	})
}
