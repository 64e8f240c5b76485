package setup

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/part/setup/openclaw"
)

// callQuestion asks for a call of a harmless tool that returns the time.
const callQuestion = `{"messages":[{"role":"user","content":"Which time is it? Call the tool current_time to find out."}],"stream":false,"max_tokens":1024,"reasoning_effort":"low",` +
	`"tools":[{"type":"function","function":{"name":"current_time","description":"Tells the time.","parameters":{"type":"object","properties":{}}}}],"tool_choice":"auto"}`

// countQuestion needs some four hundred tokens, and allows as many as OpenClaw does.
func countQuestion() string {
	return fmt.Sprintf(`{"messages":[{"role":"user","content":"Count from 1 to 200, all in one line, with blanks in between. Write nothing else."}],"stream":false,"max_tokens":%d,"reasoning_effort":"low"}`, openclaw.DefaultTokens)
}

// A long question is as long as OpenClaw's first prompt with tools; if the server does not report its
// window, it nearly fills the least one. Its first message has a word that the last one asks for, because
// servers that drop messages drop the oldest.
const (
	longTokens = 16000
	fullTokens = 31000
	longTurns  = 16
	secretWord = "heron-4127"
)

func longQuestion(size int) string {
	type message struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	words := strings.Fields("apple river stone cloud tree house water light green field") // one token each
	filler := strings.Repeat(" "+strings.Join(words, " "), size/longTurns/len(words))
	list := []message{{"user", "Remember this word: " + secretWord + ". I will ask for it at the end."},
		{"assistant", "I will."}}
	for i := range longTurns {
		list = append(list, message{"user", fmt.Sprintf("Page %d:%s", i+1, filler)},
			message{"assistant", "Read."})
	}
	list = append(list, message{"user", "Which word should you remember? Write the word and nothing else."})
	doc, err := json.Marshal(map[string]any{"messages": list, "stream": false, "max_tokens": 512,
		"reasoning_effort": "low"})
	if err != nil { // texts can always be encoded
		return ""
	}
	return string(doc)
}
