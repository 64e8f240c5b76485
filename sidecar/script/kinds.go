package script

import "strings"

// Kind is a kind of damage of a call. The demo shows it, tests send it through a gateway, and the server
// plays it by hand.
type Kind struct {
	ID    string
	About string
	Tool  string                          // exec, read or write: the best example of a tool
	Call  func(name, args string) []Reply // replies up to the call, one for each request
	Final func(text string) Reply         // the answer afterwards; nil: Text
}

// Scenario returns a conversation with the damaged call and then the answer.
func (k Kind) Scenario(name, args, answer string) Scenario {
	return Scenario{Name: k.ID, Steps: append(k.Call(name, args), k.final(answer))}
}

// Endless is Scenario for any number of requests: each gets the call, and each result of a call the answer.
func (k Kind) Endless(name, args, answer string) Scenario {
	final := k.final(answer)
	return Scenario{Name: k.ID, Steps: k.Call(name, args), Loop: true, After: &final}
}

func (k Kind) final(answer string) Reply {
	if k.Final != nil {
		return k.Final(answer)
	}
	return Text(answer)
}

// Kinds returns all kinds of damage that can be repaired.
func Kinds() []Kind {
	return []Kind{
		{"clean", "no damage: the server's own tool_calls", "exec", one(Native), nil},
		{"leaked-harmony", "channel tokens come out as text", "exec", one(LeakedHarmony), nil},
		{"leaked-turn", "the chain of thought leaks, too", "write", one(LeakedTurn), nil},
		{"leaked-final", "the answer is wrapped in channel tokens", "exec", one(Native), LeakedFinal},
		{"role-recipient", "the tool is named in the role", "write", written("<|start|>assistant to=functions.NAME<|channel|>commentary <|constrain|>json<|message|>ARGS<|call|>"), nil},
		{"final-channel", "the call is on the channel for the user", "exec", one(FinalChannel), nil},
		{"ended-call", "the call is closed by the wrong token", "read", written("<|channel|>commentary to=functions.NAME<|constrain|>json<|message|>ARGS<|end|>"), nil},
		{"stripped-harmony", "the tokens are gone and the words glued together", "exec", one(StrippedHarmony), nil},
		{"call-in-reasoning", "the call is in the reasoning, the content empty", "exec", one(InReasoning), nil},
		{"name-channel", "the name carries a channel token", "read", named(func(n string) string { return n + "<|channel|>commentary" }), nil},
		{"name-prefix-case", "the name carries a namespace and a capital", "write", named(func(n string) string { return "functions." + capital(n) }), nil},
		{"alias", "the model says bash and cmd", "exec", one(func(_, args string) Reply { return Native("bash", renamed(args, "command", "cmd")) }), nil},
		{"file-path", "the path is called file_path", "write", argued(func(a string) string { return renamed(a, "path", "file_path") }), nil},
		{"trailing-comma", "arguments with a comma too many", "exec", argued(TrailingComma), nil},
		{"raw-newline", "line breaks inside a JSON string", "write", argued(func(a string) string { return strings.ReplaceAll(a, `\n`, "\n") }), nil},
		{"single-quotes", "arguments in Python's quotes", "exec", argued(SingleQuoted), nil},
		{"unclosed", "the last brace is missing", "write", argued(func(a string) string { return strings.TrimSuffix(a, "}") }), nil},
		{"double-encoded", "arguments encoded twice", "read", argued(quote), nil},
		{"react", "Thought, Action, Action Input", "exec", one(ReAct), nil},
		{"guided-json", "the call in the guided output schema", "write", one(GuidedJSON), nil},
		{"fenced-json", "a call object in a code fence", "read", one(FencedJSON), nil},
		{"marker", "[TOOL:name|key=value]", "exec", one(Marker), nil},
		{"odd-id", "a call id with characters that callers rewrite", "exec", one(oddID), nil},
		{"ollama-500", "the server answers 500 with the call in the message", "exec", one(ollama), nil},
		{"harmony-error", "the server's parser gives up, the next try works", "exec", after(HarmonyError()), nil},
		{"error-in-stream", "an error inside a stream of status 200, the next try works", "write", after(HarmonyErrorInStream()), nil},
		{"empty-reply", "a reply without a word, the next try works", "exec", after(Empty()), nil},
	}
}

func one(call func(name, args string) Reply) func(string, string) []Reply {
	return func(name, args string) []Reply { return []Reply{call(name, args)} }
}

// written returns a call as text, with NAME and ARGS replaced.
func written(text string) func(string, string) []Reply {
	return one(func(name, args string) Reply {
		return Text(strings.NewReplacer("NAME", name, "ARGS", args).Replace(text))
	})
}

func named(damage func(name string) string) func(string, string) []Reply {
	return func(name, args string) []Reply { return []Reply{Native(damage(name), args)} }
}

func argued(damage func(args string) string) func(string, string) []Reply {
	return func(name, args string) []Reply { return []Reply{Native(name, damage(args))} }
}

func after(fault Reply) func(string, string) []Reply {
	return func(name, args string) []Reply { return []Reply{fault, Native(name, args)} }
}

func capital(name string) string { return string(name[0]-'a'+'A') + name[1:] }

func oddID(name, args string) Reply {
	r := Native(name, args)
	r.Calls[0].ID = "functions." + name + ":0-call_with.an-id_that_is_longer_than_forty"
	return r
}

// ollama returns the call without its name: Ollama's error has only the arguments.
func ollama(_, args string) Reply { return OllamaParseError(args + "]") }
