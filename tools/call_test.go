package tools

import (
	"strings"
	"testing"
)

// Tools of the rows below.
const (
	execTool = "exec(command:string! workdir:string timeout:integer)"
	readTool = "read(path:string! limit:integer offset:number)"
	noteTool = "note(text:string! tags:[]string pinned:boolean)"
	codeTool = "python(code:string! timeout:integer)"
	findTool = "search(query:string! count:integer)"
	pingTool = "ping()"
	metaTool = "execute(tool:string! args:object!)"
	listTool = "list_items(category:string! count:integer)"
)

// call mends one call and tells its outcome: `name {arguments}`, or the code of the
// refusal.
func call(c *Catalog, name, args string, end Ending) (outcome, kindsOf string) {
	got, refusal := c.Call(name, []byte(args), end)
	if refusal != nil {
		return string(refusal.Code), ""
	}
	return got.Name + " " + string(got.Arguments), kinds(got.Repairs)
}

func TestCall(t *testing.T) {
	for _, row := range []struct{ tool, args, want, kinds string }{
		// Valid arguments leave byte for byte, whatever they look like.
		{execTool, `{"command": "ls"}`, `exec {"command": "ls"}`, ""},
		{execTool, `{ "command":"x <|call|>", "x":null }`, `exec { "command":"x <|call|>", "x":null }`, ""},
		{execTool, `{"command":"ls","cwd":"src"}`, `exec {"command":"ls","workdir":"src"}`, "args.rename"},
		{"exec(command:string workdir:string)", `{"cmd":"ls","cwd":"src"}`, `exec {"command":"ls","workdir":"src"}`,
			"args.rename args.rename"},
		{readTool, `{"path":"a","offset":1.50}`, `read {"path":"a","offset":1.50}`, ""},
		{"free", `{"any":[1,{}]}`, `free {"any":[1,{}]}`, ""},
		{pingTool, `{}`, `ping {}`, ""},

		// Nothing is nothing, and nothing is made up.
		{pingTool, ``, `ping {}`, "args.empty"},
		{pingTool, `null`, `ping {}`, "args.empty"},
		{pingTool, `{"": {}}`, `ping {}`, "args.empty"},
		{pingTool, `{ "" : null }`, `ping {}`, "args.empty"},
		{pingTool, `{"": 7}`, `ping {"": 7}`, ""},
		{execTool, `{}`, `bad_schema`, ""},
		{execTool, ``, `bad_schema`, ""},

		// One object is wanted.
		{execTool, `"{\"command\":\"ls\"}"`, `exec {"command":"ls"}`, "args.decode"},
		{execTool, `[{"command":"ls"}]`, `exec {"command":"ls"}`, "args.unwrap"},
		{execTool, `{"arguments": {"command":"ls"}}`, `exec {"command":"ls"}`, "args.unwrap"},
		{readTool, `{"args":"{\"path\":\"a\"}"}`, `read {"path":"a"}`, "args.unwrap"},
		{execTool, `{"arguments": {"path":"ls"}}`, `bad_schema`, ""},
		{"look(city:string)", `{"input":"{\"city\":\"Oslo\"}"}`, `look {"city":"Oslo"}`, "args.unwrap"},
		{"look(city:string)", `{"input":{"town":"Oslo"}}`, `bad_schema`, ""},
		{execTool, `{"arguments": "ls"}`, `bad_schema`, ""},
		{metaTool, `{"tool":"a","args":{"b":1}"}`, `execute {"tool":"a","args":{"b":1}}`, "json.quote"},
		{execTool, `{"command":""ls -la","timeout":1}`, `exec {"command":"ls -la","timeout":1}`,
			"json.quote"},
		// args is its own
		{metaTool, `{"args": {"tool":"a","args":{}}}`, `bad_schema`, ""},
		// it takes more keys
		{"open(path:string)", `{"others":["a"],"path":"b"}`, `open {"others":["a"],"path":"b"}`, ""},
		// but not others only
		{findTool, `"tide table"`, `search {"query":"tide table"}`, "args.wrap"},
		{findTool, "tide table\n", `search {"query":"tide table"}`, "args.wrap"},
		{findTool, `42`, `search {"query":"42"}`, "args.wrap"},
		{pingTool, `I will ping it now.`, `bad_json`, ""},
		{"free", `I will call it now.`, `bad_json`, ""},
		{"move(from:string! to:string!)", `a b`, `bad_json`, ""},
		{"tag(names:[]string!)", `a b`, `bad_json`, ""},
		{execTool, `[1,2]`, `bad_json`, ""},
		{execTool, `json{"command":"ls"}`, `exec {"command":"ls"}`, "args.label"},

		{codeTool, "```py\nf()\n```", `python {"code":"f()"}`, "args.wrap"},
		{codeTool, "```py\nprint(1, {\"ok\": True})\n```", `python {"code":"print(1, {\"ok\": True})"}`,
			"args.wrap"},
		{codeTool, `"a" + b`, `bad_json`, ""}, // quotes around it, or a text?,
		{codeTool, `[x for x in y] + z`, `python {"code":"[x for x in y] + z"}`, "args.wrap"},
		{codeTool, `x = {"a":1} ; f()`, `python {"code":"x = {\"a\":1} ; f()"}`, "args.wrap"},
		// which of the two?
		{codeTool, `x = {"code":"x"} ; f()`, `bad_json`, ""},
		// or was it an example?
		{"move(from:string! to:string!)", `Move it: {"from":"a","to":"b"}`, `bad_json`, ""},
		{"read_pair(from:string! to:string!)", `Read it: {"from":"a","to":"b"}`,
			`read_pair {"from":"a","to":"b"}`, "args.words"},
		{"edit(edits:[]object!)", `[{"a":1},{"b":2}`, `edit {"edits":[{"a":1},{"b":2}]}`,
			"json.closer args.wrap"},
		{execTool, `[{"command":"ls"}`, `exec {"command":"ls"}`, "json.closer args.unwrap"},
		{execTool, `"{"command":"ls"}"`, `exec {"command":"ls"}`, "args.quotes"},

		// Broken JSON: what is cut off is not made up, nor is a missing value.
		{execTool, `{"command":"ls`, `truncated`, ""},
		{execTool, `{"command":"ls"`, `exec {"command":"ls"}`, "json.closer"},
		{execTool, `"{\"command\":\"ls`, `truncated`, ""},
		{"free", `{"a", "b"}`, `bad_json`, ""},
		{execTool, `{"command":"ls","workdir"}`, `exec {"command":"ls"}`, "json.value args.drop_null"},
		{listTool, `{"count=10","category":"books"}`, `list_items {"count":10,"category":"books"}`,
			"json.value args.split"},
		{listTool, `{"count=ten","category":"books"}`, `bad_schema`, ""},

		// Other names of a parameter.
		{execTool, `{"cmd":"ls"}`, `exec {"command":"ls"}`, "args.rename"},
		{execTool, `{"Command":"ls"}`, `exec {"command":"ls"}`, "args.rename"},
		{execTool, `{" command":"ls", "timeout" : 5}`, `exec {"command":"ls","timeout":5}`, "args.rename"},
		{"run_it(cmd:string!)", `{"command":"ls"}`, `bad_schema`, ""}, // the rule is about exec
		{"bash(cmd:string!)", `{"script":["ls"]}`, `bad_schema`, ""},
		{"bash(cmd:string!)", `{"cmd":["ls"]}`, `bash {"cmd":"ls"}`, "args.unwrap"},
		{"bash(cmd:string!)", `{"command":["bash","-lc","ls | wc"]}`, `bash {"cmd":"ls | wc"}`,
			"args.rename args.command"},
		{"bash(cmd:string!)", `{"cmd":["ls","a b","$(x)","it's",""]}`,
			`bash {"cmd":"ls 'a b' '$(x)' 'it'\\''s' ''"}`, "args.command"},
		{"bash(cmd:string!)", `{"cmd":["bash","-lc","ls","x"]}`, `bash {"cmd":"bash -lc ls x"}`,
			"args.command"},
		{"bash(cmd:string!)", `{"cmd":["ls -l","pwd"]}`, `bad_schema`, ""},
		{"bash(cmd:string!)", `{"cmd":["ls","|","wc"]}`, `bad_schema`, ""},
		{"bash(cmd:string!)", `{"cmd":["ls",1]}`, `bad_schema`, ""},
		{"bash(cmd:string!)", `{"commands":["ls","pwd"]}`, `bad_schema`, ""},
		{"bash(commands:[]string!)", `{"commands":["ls","pwd"]}`, `bash {"commands":["ls","pwd"]}`, ""},
		{"bash(commands:[]string!)", `{"command":"ls"}`, `bash {"commands":["ls"]}`, "args.rename args.wrap"},
		{"bash(commands:[]string!)", `{"command":["ls","-l"]}`, `bash {"commands":["ls -l"]}`,
			"args.rename args.command"},
		{"bash(commands:[]string!)", `{"command":["ls -l","pwd"]}`, `bad_schema`, ""},
		{"bash(command:[]string!)", `{"command":"ls | wc"}`, `bash {"command":["bash","-lc","ls | wc"]}`,
			"args.command"},
		{"bash(command:[]string!)", `{"commands":["ls -l"]}`, `bash {"command":["bash","-lc","ls -l"]}`,
			"args.rename args.command"},
		{"bash(command:[]string!)", `{"commands":["ls","pwd"]}`, `bad_schema`, ""},
		{"bash(command:[]string!)", `{"command":["ls","pwd"]}`, `bash {"command":["ls","pwd"]}`, ""},
		{"bash(cmd:string!)", `{"command":"ls"}`, `bash {"cmd":"ls"}`, "args.rename"}, // of the group exec
		{"open(filePath:string!)", `{"path":"a"}`, `open {"filePath":"a"}`, "args.rename"},
		{"open(filePath:string!)", `{"FILE_NAME":"a"}`, `open {"filePath":"a"}`, "args.rename"},
		// not path
		{"open(filePath:string! path:string)", `{"file_path":"a"}`, `open {"filePath":"a"}`, "args.rename"},
		// which of them?
		{"open(file_path:string!)", `{"path":"a"}`, `open {"file_path":"a"}`, "args.rename"},
		{execTool, `{"command":"ls","cmd":"rm"}`, `bad_json`, ""}, // which of them?
		{readTool, `{"path":"a","file":"b"}`, `read {"path":"a","file":"b"}`, ""},
		{"pair(path:string! file:string!)", `{"path":"a","filename":"b"}`, `pair {"path":"a","file":"b"}`,
			"args.rename"},

		// Other kinds of the same value.
		{readTool, `{"path":"a","limit":"5"}`, `read {"path":"a","limit":5}`, "args.coerce"},
		{readTool, `{"path":"a","limit":"1,234"}`, `read {"path":"a","limit":1234}`, "args.coerce"},
		{readTool, `{"path":"a","limit":"5.0"}`, `read {"path":"a","limit":5}`, "args.coerce"},
		{readTool, `{"path":7}`, `read {"path":"7"}`, "args.coerce"},
		{readTool, `{"path":"a","limit":"five"}`, `bad_schema`, ""},
		{readTool, `{"path":"a","limit":5.5}`, `bad_schema`, ""},
		{readTool, `{"path":["a"]}`, `read {"path":"a"}`, "args.unwrap"},
		{readTool, `{"path":["a","b"]}`, `bad_schema`, ""},
		{noteTool, `{"text":"a","pinned":"True"}`, `note {"text":"a","pinned":true}`, "args.coerce"},
		{noteTool, `{"text":"a","tags":"b"}`, `note {"text":"a","tags":["b"]}`, "args.wrap"},
		{noteTool, `{"text":"a","tags":"[\"b\"]"}`, `note {"text":"a","tags":["b"]}`, "args.decode"},
		{noteTool, `{"text":"a","tags":[1]}`, `note {"text":"a","tags":["1"]}`, "args.coerce"},
		{noteTool, `{"text":"a","tags":{}}`, `note {"text":"a"}`, "args.drop_null"},
		{noteTool, `{"text":"a","pinned":null}`, `note {"text":"a"}`, "args.drop_null"},
		{noteTool, `{"text":null}`, `bad_schema`, ""},
		{noteTool, `{"text":"<path>"}`, `note {"text":"<path>"}`, ""},

		// An envelope that repeats the name of the tool.
		{readTool, `{"name":"read","arguments":{"path":"a"}}`, `read {"path":"a"}`, "args.unwrap"},
		{readTool, `{"name":"functions.read","parameters":"{\"path\":\"a\"}"}`, `read {"path":"a"}`,
			"args.unwrap"},
		{"free", `{"tool":"free","args":{"x":1}}`, `free {"x":1}`, "args.unwrap"},
		{"free", `{"name":"apple","input":"x"}`, `free {"name":"apple","input":"x"}`, ""},
		{metaTool, `{"tool":"execute","args":{}}`, `execute {"tool":"execute","args":{}}`, ""},
	} {
		name, _, _ := strings.Cut(row.tool, "(")
		got, by := call(catalogOf(row.tool), name, row.args, closed)
		if got != row.want || by != row.kinds {
			t.Errorf("%s %s: got %s by %q, want %s by %q", row.tool, row.args, got, by, row.want, row.kinds)
		}
	}
}

func TestCallOfNoName(t *testing.T) {
	for _, row := range []struct{ name, args, want, kinds string }{
		{"tool.run", `{"name":"read","arguments":{"path":"a"}}`, `read {"path":"a"}`, "args.unwrap"},
		{"Rust", `{"name":"Read","input":{"path":"a"}}`, `read {"path":"a"}`, "args.unwrap name.case"},
		{"json", `{"tool":"exec","args":{"cmd":"ls"}}`, `exec {"command":"ls"}`, "args.unwrap args.rename"},
		{"json", `{"name":"fly","arguments":{}}`, `not_offered`, ""},
		{"json", `{"total":7}`, `answer`, ""},
		{"json", `{"command":"ls"}`, `exec {"command":"ls"}`, "name.fit"},
		{"assistant<|channel|>analysis", `{"command":"ls"}`, `exec {"command":"ls"}`, "name.fit"},
		{"toolu_01abc9", `{"path":"a","limit":5}`, `read {"path":"a","limit":5}`, "name.fit"},
		{"assistant", `{"input":"The list is ready."}`, `not_offered`, ""},
		{"assistant", `{}`, `not_offered`, ""},
		{"assistant", `{"path":"a","limit":"5"}`, `not_offered`, ""}, // fits only by coercion
		{"fly", `{"command":"ls"}`, `not_offered`, ""},               // a name is a name
	} {
		got, by := call(catalogOf(execTool, readTool, pingTool), row.name, row.args, closed)
		if got != row.want || by != row.kinds {
			t.Errorf("%s %s: got %s by %q, want %s by %q", row.name, row.args, got, by, row.want, row.kinds)
		}
	}
}

func TestCallWithoutTools(t *testing.T) {
	for _, row := range []struct{ name, args, want string }{
		{"python", "print(1)\n", "answer"},
		{"web.run", "{}", "not_offered"},
		{"python", `{"code":"1"}`, "not_offered"},
		{"assistant<|channel|>final", `{"total":7}`, "answer"},
		{"assistant", `{"total":7}`, "answer"},
		{"toolu_01abc9", `{"total":7}`, "bad_name"},
	} {
		if got, _ := call(catalogOf(), row.name, row.args, closed); got != row.want {
			t.Errorf("%s %s: got %s, want %s", row.name, row.args, got, row.want)
		}
	}
}

func TestCallOpen(t *testing.T) {
	for _, row := range []struct{ name, args, want string }{
		{"functions.search", `{"q":1}`, `search {"q":1}`},
		{"Ask a friend", "what is 2 + 2?", `Ask a friend {"input":"what is 2 + 2?"}`},
		{"calc", `(4 + 6) * 5`, `calc {"input":"(4 + 6) * 5"}`},
		{"search", `"NBA"`, `search {"input":"NBA"}`},
		{"search", `[1]`, `search {"input":[1]}`},
	} {
		if got, _ := call(OpenCatalog(testRules()), row.name, row.args, closed); got != row.want {
			t.Errorf("%s %s: got %s, want %s", row.name, row.args, got, row.want)
		}
	}
}

// TestCallCutOff: text that became a value may have lost its end; nothing says not.
func TestCallCutOff(t *testing.T) {
	c := catalogOf(codeTool)
	end := Ending{How: Cut}
	if got, _ := call(c, "python", "shutil.rmtree(x)", end); got != "truncated" {
		t.Errorf("got %s", got)
	}
	if got, _ := call(catalogOf(pingTool), "ping", "", end); got != "truncated" {
		t.Errorf("no arguments yet: got %s", got)
	}
	if got, _ := call(c, "python", `{"code":"f()"}`, end); got != `python {"code":"f()"}` {
		t.Errorf("a whole object got %s", got)
	}
}

// TestCallOfUnknownEnd: where nobody says how a reply ended, a call that lacks its closers runs
// only if it reads.
func TestCallOfUnknownEnd(t *testing.T) {
	c := NewCatalog(testRules(), nil, []Tool{{Name: "read"}, {Name: "write"}})
	for _, row := range []struct{ tool, args, want string }{
		{"read", `{"path":"a"`, `read {"path":"a"}`},
		{"write", `{"path":"a"`, "truncated"},
		{"write", `{"path":"a`, "truncated"},
		{"write", `{"path":"a"]`, `write {"path":"a"}`},
		{"write", `{"path":"a"}`, `write {"path":"a"}`},
	} {
		if got, _ := call(c, row.tool, row.args, Ending{How: Unsaid}); got != row.want {
			t.Errorf("%s %s: got %s, want %s", row.tool, row.args, got, row.want)
		}
	}
}

// Arguments that can stay are the bytes that came. All others are looked at again.
func TestUntouched(t *testing.T) {
	for _, row := range []struct {
		tool, args string
		same       bool
	}{
		{execTool, `{"command": "ls", "x":[{}] }`, false}, // x may mean a parameter
		{"free", `{"a":1,"b":{"b":[1.5e3,true]}}`, true},
		{readTool, `{"path":"a","path":"b"}`, true},
		{execTool, `{"command":"ls","command":"ls"}`, true},
		{execTool, `{"command":"ls","command":"rm"}`, false},
		{pingTool, `{}`, true},
		{metaTool, `{"tool":"exec","args":{"command":"ls"}}`, true}, // its parameters are called so
		{execTool, `{"name":"exec","arguments":{"command":"ls"}}`, false},
		{execTool, `{"tool":"read","args":"{\"command\":\"ls\"}","command":"ls"}`, false},
		{execTool, ` {"command":"ls"}`, false},
		{execTool, `{"c\u006fmmand":"ls"}`, false},
		{execTool, `{"timeout":1.0,"command":"ls"}`, false},
		{execTool, `{"cmd":"ls"}`, false},
		{execTool, `{"command":"ls"}}`, false},
		{execTool, `{"command":"ls","x":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + `}`, false},
	} {
		c, args := catalogOf(row.tool), []byte(row.args)
		name, _, _ := strings.Cut(row.tool, "(")
		got, refusal := c.Call(name, args, closed)
		if same := refusal == nil && &got.Arguments[0] == &args[0]; same != row.same {
			t.Errorf("%s %.60s: same bytes %v, %s %v", name, row.args, same, got.Arguments, refusal)
		}
	}
}

func TestCallDeferred(t *testing.T) {
	c := catalogOf("tool_call(id:string! args:object!)", readTool)
	c.Defer([]string{"session_status", "cron_list"})
	for _, row := range []struct{ name, args, want string }{
		{"session_status", `{}`, `tool_call {"id":"session_status","args":{}}`},
		{"functions.Session-Status", `{"a": 1}`, `tool_call {"id":"session_status","args":{"a": 1}}`},
		{"tool_call", `{"id":"cron_list","args":{}}`, `tool_call {"id":"cron_list","args":{}}`},
		{"read", `{"path":"a"}`, `read {"path":"a"}`},
		{"session_stop", `{}`, `not_offered`},
	} {
		if got, _ := call(c, row.name, row.args, closed); got != row.want {
			t.Errorf("%s %s: got %s, want %s", row.name, row.args, got, row.want)
		}
	}
	plain := catalogOf(readTool)
	plain.Defer([]string{"session_status"})
	if got, _ := call(plain, "session_status", `{}`, closed); got != "not_offered" {
		t.Errorf("without tool_call: got %s", got)
	}
}

// TestValueOfDeferred: without a schema, an argument of a format without types is what it looks like.
func TestValueOfDeferred(t *testing.T) {
	c := catalogOf("tool_call(id:string! args:object!)", readTool)
	c.Defer([]string{"memory_search"})
	for _, row := range []struct{ tool, key, text, want string }{
		{"memory_search", "query", "who?", `"who?"`},
		{"memory_search", "limit", " 5\n", `5`},
		{"memory_search", "limit", "-0.25", `-0.25`},
		{"memory_search", "deep", "true", `true`},
		{"memory_search", "job", `{"at":[1]}`, `{"at":[1]}`},
		{"memory_search", "job", `{"at":[1]`, `"{\"at\":[1]"`},
		{"memory_search", "message", "1234567890123456789", `"1234567890123456789"`},
		{"memory_search", "zip", "01234", `"01234"`},
		{"memory_search", "text", `"quoted"`, `"\"quoted\""`},
		{"read", "path", "5", `"5"`},
		{"tool_call", "args", `{"a":1}`, `{"a":1}`},
	} {
		if got := c.Value(row.tool, row.key, row.text); got != row.want {
			t.Errorf("%s %s %s: %s, want %s", row.tool, row.key, row.text, got, row.want)
		}
	}
	if c.Nests("memory_search", "job") || !c.Nests("tool_call", "args") || c.Nests("read", "path") {
		t.Error("only args of tool_call holds an object by its schema")
	}
}

func TestRefusalOfArguments(t *testing.T) {
	for _, row := range []struct{ tool, args, want string }{
		{execTool, `{"cmdline":"ls"}`, `exec needs "command" (string); got: "cmdline"`},
		{execTool, `{}`, `exec needs "command" (string); got: no arguments`},
		{readTool, `{"path":"a","limit":"five"}`, `"limit" must be integer, not string`},
		{pingTool, `hello`, `the arguments of ping must be one JSON object`},
		{"move(from:string! to:string!)", `hello`,
			`the arguments of move must be one JSON object with "from" (string), "to" (string)`},
	} {
		name, _, _ := strings.Cut(row.tool, "(")
		_, refusal := catalogOf(row.tool).Call(name, []byte(row.args), closed)
		if refusal == nil || refusal.Why != row.want || refusal.Text != row.args || refusal.Name != name {
			t.Errorf("%s: got %+v, want %s", row.args, refusal, row.want)
		}
	}
}

func TestFit(t *testing.T) {
	grep, find := "grep(pattern:string! path:string)", "find(path:string! name:string)"
	for _, row := range []struct {
		tools []string
		args  string
		want  string
	}{
		{[]string{grep, find}, `{"pattern":"x"}`, "grep"},
		{[]string{grep, find}, `{"path":".","name":"x"}`, "find"},
		{[]string{grep, find}, `{"pattern":1}`, ""},
		{[]string{grep, find}, `{"pattern":"x","other":1}`, ""},
		{[]string{grep, find}, `{}`, ""},
		{[]string{grep, find}, `["x"]`, ""},
		{[]string{grep, "rg(pattern:string!)"}, `{"pattern":"x"}`, ""},
		{[]string{grep, "free"}, `{"pattern":"x"}`, "grep"},
		{[]string{pingTool}, `{}`, ""},
		{[]string{"exec"}, `{"command":"ls"}`, "exec"}, // a rule knows it
		{[]string{"exec"}, `{"other":"ls"}`, ""},
		{[]string{"exec"}, `{"command"}`, ""},
		{[]string{"exec", "read"}, `{"command":"ls"}`, ""},
		{nil, `{"command":"ls"}`, ""},
	} {
		got, ok := catalogOf(row.tools...).Fit(row.args, Ending{})
		if got.Name != row.want || ok != (row.want != "") {
			t.Errorf("%s of %v: got %q, want %q", row.args, row.tools, got.Name, row.want)
		}
	}
}

// Whether \$ was meant as $ nobody knows: who only reads may look for it, nobody writes it.
func TestCallWithEscapedDollar(t *testing.T) {
	c := NewCatalog(testRules(), nil, []Tool{{Name: "read"}, {Name: "write"}})
	for _, row := range []struct{ tool, args, want string }{
		{"read", `{"path":"\$5"}`, `read {"path":"\\$5"}`},
		{"write", `{"path":"\$5"}`, "bad_json"},
		{"write", `{"path":"\d"}`, `write {"path":"\\d"}`},
	} {
		if got, _ := call(c, row.tool, row.args, closed); got != row.want {
			t.Errorf("%s %s: got %s, want %s", row.tool, row.args, got, row.want)
		}
	}
}

// A string that lost its closing quote is whole when the closers of everything
// follow and somebody ended the call; cut off by max_tokens it is not.
func TestCallWithLostQuote(t *testing.T) {
	c := NewCatalog(testRules(), nil, []Tool{{Name: "read"}, {Name: "write"}})
	const args = `{"path":"notes.md}`
	if call, refusal := c.Call("read", []byte(args), Ending{}); refusal != nil ||
		string(call.Arguments) != `{"path":"notes.md"}` {
		t.Errorf("ended: %s, %v", call.Arguments, refusal)
	}
	if call, refusal := c.Call("write", []byte(args), Ending{}); refusal == nil || refusal.Code != BadJSON {
		t.Errorf("of a tool that writes: %s, %v", call.Arguments, refusal)
	}
	if call, refusal := c.Call("read", []byte(args), Ending{How: Cut}); refusal == nil ||
		refusal.Code != Truncated {
		t.Errorf("cut: %s, %v", call.Arguments, refusal)
	}
}

// Arguments in another notation are read if what comes out is what the tool takes. A text that begins
// as markup is never taken for a value.
func TestCallInAnotherNotation(t *testing.T) {
	const mail = "send_mail(to:string! body:string! copies:integer)"
	for _, row := range []struct{ tool, args, want, kinds string }{
		{execTool, `｛「command」：「ls」｝`, `exec {"command":"ls"}`, "args.signs"},
		{execTool, `command": "ls", "timeout": 5}`, `exec {"command": "ls", "timeout": 5}`, "args.begin"},
		{execTool, `"command": "ls"`, `exec {"command": "ls"}`, "args.members"},
		{execTool, `"command": "ls", "shell": "sh"`, `bad_json`, ""},
		{execTool, `"command": "ls", "command": "rm"`, `bad_json`, ""},
		{execTool, `<|message|>{"command": "ls"}<|call|>`, `exec {"command": "ls"}`, "args.tokens"},
		{execTool, `<example>{"command": "ls"}</example>`, `bad_json`, ""},
		{execTool, "<command>ls</command>\n<timeout>5</timeout>", `exec {"command":"ls","timeout":5}`,
			"args.xml args.coerce"},
		{mail, `▁{"to":▁"a▁b","body":"c d"}`, `bad_json`, ""}, // are they blanks?
		{findTool, `▁"rust▁async",▁"count":▁5`, `bad_json`, ""},
		{findTool, `<query>tide &amp; table</query>`, `bad_json`, ""},
		{findTool, `<parameter name="query">tide`, `bad_json`, ""},
		{findTool, `<0x0A>tide`, `bad_json`, ""},

		{execTool, `exec(command="ls -la", timeout=5)`, `exec {"command":"ls -la","timeout":5}`,
			"args.literal args.unwrap"},
		{execTool, `read(command="ls -la")`, `bad_json`, ""}, // a call of another tool
		{execTool, `{["command"] = "ls", timeout = 5}`, `exec {"command":"ls","timeout":5}`, "args.literal"},
		{execTool, "command: ls -la\ntimeout: 5", `exec {"command":"ls -la","timeout":5}`,
			"args.lines args.coerce"},
		{execTool, `command: ls -la`, `bad_json`, ""},
		{execTool, `{"command": true,}`, `bad_json`, ""},
		{execTool, `command: true`, `bad_json`, ""},
		{execTool, `<invoke name="read"><parameter name="command">ls</parameter></invoke>`, `bad_json`, ""},
		{execTool, `[["command","ls"],["shell","sh"]]`, `bad_json`, ""},
		{execTool, "{\"$comm\u200band:\": \"ls\"}", `exec {"command":"ls"}`, "args.rename"},
		{execTool, `{"commаnd": "ls"}`, `exec {"command":"ls"}`, "args.rename"}, // a Cyrillic а
		{execTool, `{"!command": "ls"}`, `bad_schema`, ""},
		{codeTool, "code = \"x\"\ntimeout = 5", `bad_json`, ""}, // arguments, or a program?
		{readTool, `{path=a.md, limit=3}`, `bad_json`, ""},
		{readTool, `map[limit:3 path:a.md]`, `bad_json`, ""},
		{readTool, "[read]\npath=a", `bad_json`, ""},

		// Requests of other protocols, and objects that say nothing.
		{execTool, `{"_":{"command":"ls"}}`, `exec {"command":"ls"}`, "args.unwrap"},
		{execTool, `{"exec":{"command":"ls"}}`, `exec {"command":"ls"}`, "args.unwrap"},
		{execTool, `{"type":"function","function":{"name":"exec","arguments":"{\"command\":\"ls\"}"}}`,
			`exec {"command":"ls"}`, "args.unwrap args.unwrap"},
		{execTool, `{"dry_run":{"command":"ls"}}`, `bad_schema`, ""},
		{execTool, `{"_":{"command":"ls"},"x":1}`, `bad_schema`, ""},
		{readTool, `{"wanted":{"path":"a"}}`, `read {"path":"a"}`, "args.unwrap"},
		{readTool, `{"_":{"_":{"_":{"_":{"_":{"path":"a"}}}}}}`, `bad_schema`, ""},
	} {
		name, _, _ := strings.Cut(row.tool, "(")
		got, by := call(catalogOf(row.tool), name, row.args, closed)
		if got != row.want || by != row.kinds {
			t.Errorf("%s %s: got %s by %q, want %s by %q", row.tool, row.args, got, by, row.want, row.kinds)
		}
	}
}

// A notation that has no end of its own may have been cut, as an object without its closer may.
func TestCallInAnotherNotationCut(t *testing.T) {
	for _, row := range []struct {
		args string
		how  End
		want string
	}{
		{`<command>ls</command>`, Ended, `exec {"command":"ls"}`},
		{`<command>ls</command>`, Unsaid, "truncated"},
		{`<command>ls</command>`, Cut, "truncated"},
		{`"command": "ls"`, Cut, "truncated"},
		{`｛"command"："ls"｝`, Cut, `exec {"command":"ls"}`},
		{`｛"command"："ls`, Cut, "bad_json"},
	} {
		if got, _ := call(catalogOf(execTool), "exec", row.args, Ending{How: row.how}); got != row.want {
			t.Errorf("%s, %v: got %s, want %s", row.args, row.how, got, row.want)
		}
	}
}
