package parse_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/modelserver"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// cuts are ways to cut a text into pieces.
func cuts(s string) map[string][]string {
	out := map[string][]string{"whole": {s}, "halves": {s[:len(s)/2], s[len(s)/2:]}}
	for name, n := range map[string]int{"bytes": 1, "twos": 2, "threes": 3, "sevens": 7, "tens": 10,
		"hundreds": 100} {
		for i := 0; i < len(s); i += n {
			out[name] = append(out[name], s[i:min(len(s), i+n)])
		}
	}
	return out
}

// Replies of other families, as their models write them, are read by the files of families: the calls of
// nearly all, no call that is none, and thoughts and text in their places. Any chunking gives the same.
func TestFamilies(t *testing.T) {
	cases, calls, whole, none := 0, 0, 0, 0
	for _, c := range testkit.Corpus[family](t, "families") {
		of := shipped.FamilyByName(c.Models[0])
		if of == nil {
			t.Errorf("no family knows %s", c.Models[0])
			continue
		}
		finish := "stop"
		if strings.Contains(c.ID, "truncated") {
			finish = "length"
		}
		cases++
		s, catalog := shipped.Strategies(of.Name), catalogOf(c.Tools, true)
		got := readPieces(s, catalog, []string{c.Raw}, finish)
		same := sameCalls(got.Calls, c.Expect.Calls, nil)
		switch right := sameText(got.Content, c.Expect.Content) &&
			sameText(got.Reasoning, c.Expect.Reasoning); {
		case same && (right || c.Expect.Error):
			calls, whole = calls+1, whole+1
		case same:
			calls++
		case len(got.Calls) > len(c.Expect.Calls):
			none++
			t.Logf("%s: %v", c.ID, got.Calls)
		}
		sameInPieces(t, c.ID, s, catalog, c.Raw, finish, got)
	}
	t.Logf("%d cases: calls right in %d, all right in %d, calls that are none in %d", cases, calls, whole,
		none)
	if calls < cases*97/100 || whole < cases*97/100 || none > 0 {
		t.Errorf("of %d cases calls are right in %d, all in %d; %d have calls that are none", cases, calls,
			whole, none)
	}
}

// sameInPieces checks that a reply is read the same however it is cut.
func sameInPieces(t *testing.T, id string, s *parse.Strategies, catalog *tools.Catalog, raw, finish string,
	whole parse.Reading) {
	t.Helper()
	for name, pieces := range cuts(raw) {
		got := readPieces(s, catalog, pieces, finish)
		if got.Content != whole.Content || got.Reasoning != whole.Reasoning || len(got.Calls) != len(whole.Calls) {
			t.Errorf("%s in %s: %q %q, whole: %q %q", id, name, got.Content, got.Reasoning, whole.Content,
				whole.Reasoning)
		}
	}
}

func sameText(got string, want *string) bool {
	if want == nil {
		want = new(string)
	}
	return strings.TrimSpace(got) == strings.TrimSpace(*want)
}

// What the chat templates of public models make of a call is read back, each by the family of its model, or
// without one. A template may leave out a call, a text or a thought: what it wrote counts.
func TestChatTemplates(t *testing.T) {
	right, lost := map[string]bool{}, map[string]bool{}
	for _, turn := range modelserver.Turns(t) {
		wrote := func(s string) bool { return s != "" && strings.Contains(turn.Raw, s) }
		var want []wantCall
		for _, c := range turn.Calls {
			if word := firstWord.FindStringSubmatch(string(c.Arguments)); wrote(c.Name) && wrote(word[1]) {
				want = append(want, wantCall{Name: c.Name, Arguments: c.Arguments})
			}
		}
		if len(want) == 0 {
			lost[turn.Template] = true
			continue
		}
		family := ""
		if of := shipped.FamilyByName(strings.TrimPrefix(turn.Template, "llama-cpp-")); of != nil {
			family = of.Name
		}
		s, catalog := shipped.Strategies(family), catalogOf(turn.Tools, true)
		got := readPieces(s, catalog, []string{turn.Raw}, "stop")
		same := sameCalls(got.Calls, want, nil)
		text, thought := strings.TrimSpace(got.Content), strings.TrimSpace(got.Reasoning)
		texts := (text == turn.Content || text == "" && !wrote(turn.Content)) &&
			(thought == turn.Thought || thought == "" && !wrote(turn.Thought))
		name := turn.Template + "/" + turn.ID
		sameInPieces(t, name, s, catalog, turn.Raw, "stop", got)
		if right[turn.Template] = true; !same || !texts {
			t.Errorf("%s, family %q: calls %v, text %q, thought %q of %q", name, family, got.Calls, text, thought,
				turn.Raw)
		}
	}
	t.Logf("%d templates are read; %d leave out a call", len(right), len(lost))
	if len(right) < 45 {
		t.Errorf("only %d templates were read", len(right))
	}
}

// familyTools are offered to the replies of TestFamilyKinds.
const familyTools = `[{"name": "plant", "parameters": {"type": "object", "properties": {"bed": {"type": "string"},
	"rows": {"type": "int"}, "note": {"type": ["string", "null"]}, "seeds": {"type": "array"}}}},
	{"name": "water", "parameters": {"type": "object", "properties": {"litres": {"type": "number"}}}}]`

// What engines get wrong or refuse in replies of their models is read, each kind in one family that writes it.
func TestFamilyKinds(t *testing.T) {
	var offered []json.RawMessage
	if err := json.Unmarshal([]byte(familyTools), &offered); err != nil {
		t.Fatal(err)
	}
	const muse = "<|message|><atem:function_calls>\n<atem:invoke name=\"water\">\n</atem:invoke>\n</atem:function_calls>"
	for _, c := range []struct{ family, text, calls, shown, thought string }{
		// Text behind a call, or right in front of it, makes no quotation of it; a sentence around it does.
		{"mistral", "[TOOL_CALLS] [{\"name\": \"water\", \"arguments\": {}}]\nand then I wait", "water{}", "and then I wait", ""},
		{"qwen3", "Erst gießen🌱<tool_call>{\"name\": \"water\", \"arguments\": {}}</tool_call>dann ernten", "water{}", "Erst gießen🌱dann ernten", ""},
		{"deepseek", "I water it.\n\n    <｜DSML｜tool_calls>\n    <｜DSML｜invoke name=\"water\">\n    </｜DSML｜invoke>\n    </｜DSML｜tool_calls>", "water{}", "I water it.", ""},
		{"qwen3", "One writes <tool_call>{\"name\": \"water\", \"arguments\": {}}</tool_call> to water it.", "", "One writes <tool_call>{\"name\": \"water\", \"arguments\": {}}</tool_call> to water it.", ""},
		// Marks that open or close nothing are not shown.
		{"kimi", "Nothing to do.<|tool_calls_section_begin|><|tool_calls_section_end|>", "", "Nothing to do.", ""},
		{"gemma4", "<|tool_call>call:water{litres:2}<tool_call|><tool_call|>Done.", `water{"litres":2}`, "Done.", ""},
		{"mistral", "[TOOL_CALLS] nothing to water", "", "nothing to water", ""},
		{"glm", "Nothing to do.<tool_call></tool_call>", "", "Nothing to do.", ""},
		{"kimi", "I water it.<|close|>response<|sep|><|close|>mess", "", "I water it.", ""},
		{"functionary", "all\nAll is dry.>>>water\n{}>>>all\nDone.", "water{}", "All is dry.\nDone.", ""},
		{"functionary", "all is dry.", "", "all is dry.", ""},
		// A thought behind text; a mention of one in a sentence, or a mark that no other one ends, hides nothing.
		{"glm", "I look.\n<think>It is dry.</think>I water it.", "", "I look.\nI water it.", "It is dry."},
		{"qwen3", "First <think> opens and </think> closes.", "", "First  opens and  closes.", ""},
		{"qwen3", "I look.\n<think>Now <tool_call>{\"name\": \"water\", \"arguments\": {}}</tool_call>", "water{}", "I look.\nNow", ""},
		// The mark that ends a call is missing, or the one that ends the turn stands there.
		{"kimi", `<|tool_call_begin|>functions.water:0<|tool_call_argument_begin|>{"litres":1}<|tool_call_begin|>functions.water:1<|tool_call_argument_begin|>{"litres":2}`, `water{"litres":1} water{"litres":2}`, "", ""},
		{"gemma4", "<|tool_call>call:water{litres:2}<turn|>", `water{"litres":2}`, "", ""},
		{"gemma4", `call:plant{bed:<|"|>north "A"<|"|>}`, `plant{"bed":"north \"A\""}`, "", ""},
		{"deepseek", "I look.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>water<｜tool▁sep｜>{\"litres\":1}<｜tool▁calls▁end｜>", `water{"litres":1}`, "I look.", ""},
		{"step", "<tool_call>\n<function=plant>\n<parameter=bed>\na\n</parameter>\n</tool_call>", `plant{"bed":"a"}`, "", ""},
		// Arguments are written in another notation, or words stand around them; prose is none.
		{"kimi", `<|tool_call_begin|>functions.water:0<|tool_call_argument_begin|><litres>1</litres><|tool_call_end|>`, `water{"litres":1}`, "", ""},
		{"deepseek", "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>water<｜tool▁sep｜>\"litres\": 1<｜tool▁call▁end｜><｜tool▁calls▁end｜>", `water{"litres": 1}`, "", ""},
		{"solar", `<|tool_calls|><|tool_call:begin|>1<|tool_call:name|>water<|tool_call:args|>{"litres":1} {"litres":1}<|tool_call:end|><|calls|>`, `water{"litres":1}`, "", ""},
		// A closing tag that is spelt wrongly is no part of the value; one that is right stays in a text.
		{"qwen3", "<tool_call>\n<function=plant>\n<parameter=bed>\na\n</parameter/>\n</function>\n</tool_call>", `plant{"bed":"a"}`, "", ""},
		{"step", "<tool_call>\n<function=plant>\n<parameter=bed>\na\n</parameter_function>\n</function>\n</tool_call>", `plant{"bed":"a"}`, "", ""},
		{"qwen3", "<tool_call>\n<function=plant>\n<parameter=bed>\na\n</parameter>\n</parameter>\n</function>\n</tool_call>", `plant{"bed":"a\n</parameter>"}`, "", ""},
		// One closes too much, or is another one; quotes are single.
		{"qwen3", "<tool_call>\n<function=plant>\n<parameter=bed>\na\n</parameter>\n</function>\n</function>\n</tool_call>Now.", `plant{"bed":"a"}`, "Now.", ""},
		{"seed", "<seed:tool_call><function=plant><parameter=bed>a</parameter></function></tool_call>", `plant{"bed":"a"}`, "", ""},
		{"apertus", "<|tools_prefix|>[{'water': {'litres': 1}}]<|tools_suffix|>", `water{"litres":1}`, "", ""},
		// The whole call lacks its end: it may have been cut.
		{"qwen3", "<tool_call>\n{\"name\": \"water\", \"arguments\": {\"litres\": 2}", "", "", ""},
		// A number stands for the name.
		{"kimi", `<|tool_calls_section_begin|><|tool_call_begin|>0<|tool_call_argument_begin|>{"litres":3}<|tool_call_end|><|tool_calls_section_end|>`, `water{"litres":3}`, "", ""},
		// Arguments in JSON where tags are usual, or below a key that says nothing.
		{"deepseek", "<｜DSML｜tool_calls><｜DSML｜invoke name=\"water\">\n{\"litres\":4}\n</｜DSML｜invoke></｜DSML｜tool_calls>", `water{"litres":4}`, "", ""},
		{"deepseek", "<｜DSML｜tool_calls><｜DSML｜invoke name=\"water\"><｜DSML｜parameter name=\"input\" string=\"true\">{\"litres\":4}</｜DSML｜parameter></｜DSML｜invoke></｜DSML｜tool_calls>", `water{"litres":4}`, "", ""},
		// Line breaks and quotes that were escaped once too often.
		{"glm", `<tool_call>plant\n<arg_key>seeds</arg_key>\n<arg_value>[{\"of\":\"dill\"}]</arg_value>\n</tool_call>`, `plant{"seeds":[{"of":"dill"}]}`, "", ""},
		// Types that the schema alone knows, also if it calls them as programs do.
		{"qwen3", "<tool_call><function=plant><parameter=rows>\n7\n</parameter><parameter=note>\nnull\n</parameter><parameter=bed>\nnull\n</parameter></function></tool_call>", `plant{"rows":7,"note":null,"bed":"null"}`, "", ""},
		// The text of an argument is bare: it keeps its indent, its last line break and what looks like an entity.
		{"qwen3", "<tool_call>\n<function=plant>\n<parameter=bed>\n  - &amp;\n\n</parameter>\n</function>\n</tool_call>", `plant{"bed":"  - &amp;\n"}`, "", ""},
		{"qwen3", "<tool_call>\n<function=plant>\n<parameter=bed>\n007\n</parameter>\n</function>\n</tool_call>", `plant{"bed":"007"}`, "", ""},
		// What closes a value is missing, or only seems to be.
		{"qwen3", "<tool_call>\n<function=plant>\n<parameter=bed>\nsouth\n<parameter=rows>\n7\n</parameter>\n</function>\n</tool_call>", `plant{"bed":"south","rows":7}`, "", ""},
		{"qwen3", "<tool_call>\n<function=plant>\n<parameter=bed>\na\n<parameter=rows>\nb\n</parameter>\n<parameter=rows>\n7\n</parameter>\n</function>\n</tool_call>", `plant{"bed":"a\n<parameter=rows>\nb","rows":7}`, "", ""},
		{"gemma4", `<|tool_call>call:plant{note:"dry, bed: none",bed:<|"|>east<|"|>}<tool_call|>`, `plant{"note":"dry, bed: none","bed":"east"}`, "", ""},
		// Objects and lists in arguments, in tags named after what they hold, where the schema wants one.
		{"minimax", m3("plant", "seeds", m3item("of", "dill")+m3item("of", m3tag("item", "a")+m3tag("item", "b"))), `plant{"seeds":[{"of":"dill"},{"of":["a","b"]}]}`, "", ""},
		{"minimax", m3("plant", "seeds", m3tag("item", m3tag("item", "1")+m3tag("item", "2"))+m3tag("item", "")), `plant{"seeds":[["1","2"],""]}`, "", ""},
		{"minimax", m3("plant", "seeds", strings.Replace(m3item("of", "dill"), m3mark+"</of>", "", 1)+m3tag("item", "b")), `plant{"seeds":[{"of":"dill"},"b"]}`, "", ""},
		{"minimax", m3("plant", "bed", m3tag("b", "north")), `plant{"bed":"` + m3tag("b", "north") + `"}`, "", ""},
		{"minimax", m3("plant", "seeds", m3tag("seeds", m3tag("seeds", "dill"))), `plant{"seeds":[{"seeds":{"seeds":"dill"}}]}`, "", ""},
		// Signs between call objects.
		{"llama", `<|python_tag|>{"name": "water", "parameters": {"litres":1}}; {"name": "water", "parameters": {"litres":2}}`, `water{"litres":1} water{"litres":2}`, "", ""},
		// Thoughts without a name, one behind the other, or begun by the prompt.
		{"gemma4", `<|tool_call>call:plant{'note':'dry, bed: none',bed:<|"|>east<|"|>}<tool_call|>`, `plant{"note":"dry, bed: none","bed":"east"}`, "", ""},
		{"gemma4", `<|tool_call>call:plant{bed:north's}<tool_call|>It's wet.`, "", "It's wet.", ""},
		// What looks like the whole text of the arguments is a key: their braces are lost.
		{"mistral", `[TOOL_CALLS]plant[ARGS]"bed": "east"`, "", "", ""},
		{"gemma4", "<|channel>dry<channel|><|channel>thought\nvery dry<channel|>I water it.", "", "I water it.", "dryvery dry"},
		{"gemma4", "It is dry.<channel|>I water it.", "", "I water it.", "It is dry."},
		{"gemma4", "I water it.<|channel>thought\n<channel|>", "", "I water it.", ""},
		// Messages to the user; a call that stands in one is shown, without the marks around it.
		{"muse", " to=user<|message|>I look, then water.<|eom|><|start|>assistant to=water" + muse, "water{}", "I look, then water.", ""},
		{"muse", " to=user<|message|>It goes so:\n" + muse[len("<|message|>"):] + "<|eot|>", "", "It goes so:\n\n<atem:invoke name=\"water\">\n</atem:invoke>", ""},
	} {
		s, catalog := shipped.Strategies(c.family), catalogOf(offered, true)
		got := readPieces(s, catalog, []string{c.text}, "stop")
		shown, thought := strings.TrimSpace(got.Content), strings.TrimSpace(got.Reasoning)
		if calls := told(got.Calls); calls != c.calls || shown != c.shown || thought != c.thought {
			t.Errorf("%s: %q\ncalls %s, shown %q, thought %q\nwant %s, %q, %q", c.family, c.text, calls, shown, thought,
				c.calls, c.shown, c.thought)
		}
		sameInPieces(t, c.text, s, catalog, c.text, "stop", got)
	}
}

// m3 is a call of MiniMax M3, m3tag an argument of it or what an argument holds, m3item an object in a list.
func m3(tool, key, value string) string {
	return m3mark + `<tool_call>` + m3mark + `<invoke name="` + tool + `">` + m3tag(key, value) +
		m3mark + `</invoke>` + m3mark + `</tool_call>`
}

const m3mark = `]<]minimax[>[`

func m3tag(key, value string) string {
	return m3mark + "<" + key + ">" + value + m3mark + "</" + key + ">"
}

func m3item(key, value string) string { return m3tag("item", m3tag(key, value)) }

// A mark of a family that stands alone, holds nothing, or is cut at the end of the reply is never shown, and
// no call. Marks are what no text begins with: the literals around calls and thoughts, and special tokens.
func TestMarksAlone(t *testing.T) {
	var offered []json.RawMessage
	if err := json.Unmarshal([]byte(familyTools), &offered); err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, f := range shipped.Families {
		s, catalog := shipped.Strategies(f.Name), catalogOf(offered, true)
		begins := "" // the end of a thought, where the prompt may begin one
		for _, st := range s.All() {
			if st.Opened {
				begins = st.Close[0]
			}
		}
		gone := func(raw, finish, want string) {
			tried++
			raw = begins + raw
			got := readPieces(s, catalog, []string{raw}, finish)
			shown := strings.Join(strings.Fields(got.Content), " ")
			cut := shown == "Hello." && len(got.Refused) > 0 // a name may follow the mark
			if len(got.Calls) > 0 || shown != want && !cut {
				t.Errorf("%s: %q shows %q, calls %v", f.Name, raw, got.Content, got.Calls)
			}
			sameInPieces(t, f.Name+" "+raw, s, catalog, raw, finish, got)
		}
		for _, st := range s.All() {
			if !st.Own {
				continue
			}
			for _, lit := range append(st.Open, st.Close...) {
				if !markLike.MatchString(lit) {
					continue
				}
				for n := 2; n < len(lit); n++ {
					gone("Hello. "+lit[:n], "length", "Hello.")
				}
				gone("Hello. "+lit, "stop", "Hello.")
				gone("Hello. "+lit+" Bye.", "stop", "Hello. Bye.")
			}
			for _, open := range st.Open {
				for _, lit := range st.Close {
					if markLike.MatchString(open) && markLike.MatchString(lit) {
						gone("Hello. "+open+lit+" Bye.", "stop", "Hello. Bye.")
						gone("Hello. "+open+"\n"+lit+" Bye.", "stop", "Hello. Bye.")
					}
				}
			}
		}
	}
	if tried < 3000 {
		t.Errorf("only %d replies were tried", tried)
	}
}

// markLike matches a literal that is a mark, and no word of a text.
var markLike = regexp.MustCompile(`^\]?[<\[].+[>\]\[~]$`)

// told are calls in one line: name and arguments.
func told(calls []tools.Call) string {
	var all []string
	for _, c := range calls {
		all = append(all, c.Name+string(c.Arguments))
	}
	return strings.Join(all, " ")
}

// firstWord is the first text of arguments.
var firstWord = regexp.MustCompile(`(?:path|text)":"(\w+)`)
