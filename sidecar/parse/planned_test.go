package parse_test

import (
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
)

// Arguments without a name behind words that make the call. Where nothing says so, they stay what they are.
func TestPlanned(t *testing.T) {
	const read, exec = `read{"path":"a"}`, `exec{"command":"ls"}`
	check(t, shipped.Strategies(""), []row{
		{"Let me read it.\n\n{\"path\":\"a\"}", read, "Let me read it.", ""},
		{"We look into a. Use the read function.\n\n{\"path\":\"a\"}", read, "We look into a. Use the read function.", ""},
		{"Let me look at it.\n\n{\"command\":\"ls\"}", "", "Let me look at it.", ""},
		{"This is the answer.\n\n{\"path\":\"a\"}", "", "This is the answer.", ""}, // asked
		{"Right:\n\n{\"command\":\"ls\"}", "", "Right:\n\n{\"command\":\"ls\"}", ""},
		{"Let me show you an example.\n\n{\"path\":\"a\"}", "", "Let me show you an example.", ""},
		{"Let me look at it.\n\n{\"answer\":\"a\"}", "", "Let me look at it.\n\n{\"answer\":\"a\"}", ""},
		{"Let me look at it.\n\n{\"path\":\"a\"}\nThat was it.", "", "Let me look at it.\n\n{\"path\":\"a\"}\nThat was it.", ""},
		{"{\"n\":1}\n{\"path\":\"a\"}", "", "{\"n\":1}\n{\"path\":\"a\"}", ""},

		// A sentence behind a call that makes the next one is no quotation, nor are signs in the next line.
		{"Let me look. commentary to=functions.exec json{\"command\":\"ls\"}Let me read it, too. commentary to=functions.read json{\"path\":\"a\"}", exec + " " + read, "Let me look.", ""},
		{"commentary to=functions.exec json\r\n{\"command\":\"ls\"}\r\n+#+#+#+#+#+assistantcommentary to=functions.read json\r\n{\"path\":\"a\"}\r\n", exec + " " + read, "", ""},
		{"You could send commentary to=functions.exec json{\"command\":\"ls\"}\n+#+#+#+#+#+ and wait.", "", "You could send commentary to=functions.exec json{\"command\":\"ls\"}\n+#+#+#+#+#+ and wait.", ""},

		// A model that lost its way says a header again and again. The next token is that of other models.
		{"Done.assistant to=functions.exec to=functions.exec to=functions.exec to=functions.exec", "", "Done.", ""},
		{"to=functions.read to=functions.read to=functions.read json{\"path\":\"a\"}", read, "", ""},
		{"Done.<|fim_suffix|>", "", "Done.", ""},

		// A channel word in the line in front of a token is no text.
		{"<|channel|>commentary to=functions.exec<|message|>{\"command\":\"ls\"}<|call|>commentary\n<|channel|>commentary to=functions.read<|message|>{\"path\":\"a\"}<|call|>", exec + " " + read, "", ""},

		// Debris of other scripts: glued to the name, behind the type, in front of the body.
		{"assistantcommentary to=functions.read彩票{\"path\":\"a\"}", read, "", ""},
		{"assistantcommentary to=functions.read (json) json彩票{\"path\":\"a\"}", read, "", ""},
		{"<|channel|>commentary to=functions.read<|message|>彩票{\"path\":\"a\"}Let me list it. <|channel|>commentary to=functions.exec <|message|>{\"command\":\"ls\"}<|call|>", read + " " + exec, "", ""},

		// Debris between two calls, and in a header without a body.
		{"assistant to=functions.read 彩票json\n{\"path\":\"a\"}期开奖结果\nassistant to=functions.exec 彩票json\n{\"command\":\"ls\"}", read + " " + exec, "", ""},
		{"Read it. аиҳassistant to=functions.read კომენტary  彩票json  parallel: false} code", "", "Read it. аиҳparallel: false} code", ""},

		// A channel and a name are all that is left of the header; the name of a member has no quotes.
		{"commentary read{\"path\":\"a\"}", read, "", ""},
		{"read: {path: \"a\"}", read, "", ""},
		{"In a: {path: \"a\"} is its form.", "", "In a: {path: \"a\"} is its form.", ""},

		// It breaks off behind its content type. A sentence that ends with a name does not.
		{"It is done.}queued tool to=functions.exec code:\n", "", "It is done.}queued tool", ""},
		{"The header is to=functions.exec", "", "The header is to=functions.exec", ""},

		// A header is the key of its arguments.
		{"{\"assistant to=functions.read)\": {\"path\":\"a\"}}", read, "", ""},
		{"I hand it over.\n\n{\"functions.read\": {\"path\":\"a\"}}", read, "I hand it over.", ""},
		{"{\"function\":{\"_name\":\"read\",\"path\":\"a\"}}", read, "", ""},
		{"commentary to=functions.read({\"path\":\"a\"})", read, "", ""},
		{"It is commentary to=functions.read({\"path\":\"a\"}) there.", "", "It is commentary to=functions.read({\"path\":\"a\"}) there.", ""},

		// The name stands behind a word that is none, or in place of the content type.
		{"<|channel|>commentary to=tool read <|constrain|>json<|message|>{\"path\":\"a\"}", read, "", ""},
		{"<|channel|>final <|constrain|>functions.read<|constrain|>json<|message|>{\"path\":\"a\"}", read, "", ""},
		{"<|channel|>final <|constrain|>json<|message|>{\"path\":\"a\"}", "", "{\"path\":\"a\"}", ""},

		// The name was lost, or is that of the namespace.
		{"We must look. to=functions<|message|>{\"path\":\"a\"}<|call|>", read, "We must look.", ""},
		{"commentary to=functions.read وهذا هو الجواب [1]", "", "وهذا هو الجواب [1]", ""},
	})
	for name, tt := range map[string]struct{ reasoning, calls string }{
		"it says so":        {"We need the file. Let's look at it.{\"path\":\"a\"}", read},
		"a tool that reads": {"The file is next.{\"path\":\"a\"}", read},
		"it is an example":  {"For example, I will run {\"command\":\"ls\"}", ""},
		"it is not made":    {"I will not run this.{\"command\":\"ls\"}", ""},
		"nothing says so":   {"The log holds this line: {\"command\":\"ls\"}", ""},
		"something follows": {"Let's list it.{\"command\":\"ls\"} That is dangerous.", ""},
		"it fits no tool":   {"Let's list it.{\"answer\":\"ls\"}", ""},
		"it is damaged":     {"Let's list it.{\"command\":\"ls}", ""},
		"an attacker wants it": {"The page wants me to run it. I report this attacker.{\"command\":\"ls\"}",
			""},
		"a question in between": {"Shall I list it?{\"command\":\"ls\"}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			checkThoughts(t, tt.reasoning, tt.calls)
			cut := shipped.Strategies("").Reader(offeredForFuzz(), facts())
			cut.Feed(parse.Delta{Reasoning: tt.reasoning})
			if got, _ := cut.Close("length"); len(got.Calls) > 0 {
				t.Errorf("a reply that was cut calls %s", showCalls(got.Calls))
			}
		})
	}
}

// The reasoning ends in whole calls.
func TestCallsThatThoughtsEndIn(t *testing.T) {
	const read, exec = `read{"path":"a"}`, `exec{"command":"ls"}`
	for name, tt := range map[string]struct{ reasoning, calls string }{
		"several, and sentences": {"I look into it. commentary to=functions.exec json{\"command\":\"ls\"}Let me read it. commentary to=functions.read json{\"path\":\"a\"}", exec + " " + read},
		"several, and signs":     {"We look.+#+#+#+#+#+commentary to=functions.exec json{\"command\":\"ls\"}-----commentary to=functions.read json{\"path\":\"a\"}", exec + " " + read},
		"an object behind words": {"Let's look at it.{\"tool_uses\": [{\"recipient_name\": \"functions.exec\", \"parameters\": {\"command\":\"ls\"}}]}", exec},
		"an object perhaps":      {"Could be {\"name\":\"exec\",\"arguments\":{\"command\":\"ls\"}}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			checkThoughts(t, tt.reasoning, tt.calls)
		})
	}
}

// checkThoughts reads a reply that stands in the reasoning alone, in pieces.
func checkThoughts(t *testing.T, reasoning, want string) {
	t.Helper()
	r := shipped.Strategies("").Reader(offeredForFuzz(), facts())
	for _, s := range inPieces(reasoning, 5) {
		r.Feed(parse.Delta{Reasoning: s})
	}
	got, _ := r.Close("stop")
	if calls := strings.TrimSpace(showCalls(got.Calls)); calls != want || got.Content != "" {
		t.Errorf("calls %q, shows %q", calls, got.Content)
	}
}
