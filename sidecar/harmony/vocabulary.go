package harmony

// The words of the format by which a reader decides. Rule files say which others may stand in a header.
// https://github.com/openai/harmony/blob/main/docs/format.md
const (
	Assistant  = "assistant"  // the role that a reply is written in
	Analysis   = "analysis"   // the channel of thoughts
	Commentary = "commentary" // the channel of calls, and of what is said in front of them
	Final      = "final"      // the channel of the answer
	Namespace  = "functions." // stands in front of the names of gpt-oss's tools
)

// Token is one of the control tokens.
// https://github.com/openai/harmony/blob/main/docs/format.md
type Token uint8

// The control tokens.
const (
	None Token = iota
	Start
	Channel
	Message
	Constrain
	End
	Call
	Return
)

var words = [...]string{Start: "start", Channel: "channel", Message: "message", Constrain: "constrain",
	End: "end", Call: "call", Return: "return"}

// others are words between <| and |> that stand for a token, too: those in the vocabulary of a
// server that knows their numbers only, and those of models that came before.
// https://github.com/openai/harmony/blob/main/docs/format.md
// https://github.com/openai/tiktoken/blob/main/tiktoken_ext/openai_public.py
var others = [...]struct {
	word  string
	token Token
}{
	{"reserved_200006", Start}, {"reserved_200005", Channel}, {"reserved_200008", Message}, {"reserved_200003", Constrain},
	{"reserved_200007", End}, {"reserved_200012", Call}, {"reserved_200002", Return},
	{"im_start", Start}, {"im_sep", Message}, {"im_end", Return}, {"endoftext", Return}, {"endofprompt", Return},
	{"fim_prefix", Return}, {"fim_middle", Return}, {"fim_suffix", Return},
}

// UsualWords are those of gpt-oss, for rule folders that do not name any.
// https://github.com/openai/harmony/blob/main/docs/format.md
func UsualWords() Words {
	return Words{
		Roles:     []string{Assistant, "user", "system", "developer", "tool"},
		Channels:  []string{Analysis, Commentary, Final},
		Types:     []string{"json", "code", "text", "python", "response"},
		Recipient: []string{"to", "recipient", "recipient_name"},
		Call:      []string{"call", "tool", "function", "invoke", "use", "tool_call", "function_call"},
		Tags:      []string{"think", "thinking", "thought", "thoughts", "reasoning"},
		Between: []string{"arguments", "args", "parameters", "input", "body", "constrain", "message",
			"channel"},
	}
}
