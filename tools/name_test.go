package tools

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// words of the outcome column: a tool, or the code of the refusal.
var nameRows = []struct{ raw, offered, want, kinds string }{
	{"read", "read write", "read", ""},
	{"functions.read", "read write", "read", "name.clean"},
	{"functions.tools.read", "read", "read", "name.clean"},
	{"Functions.Read", "read", "read", "name.clean name.case"},
	{"tools.list", "tools.list list", "tools.list", ""},
	{"read<|channel|>commentary", "read", "read", "name.clean"},
	{"to=functions.read<|channel|>commentary", "read", "read", "name.clean"},
	{"call=functions.read", "read", "read", "name.clean"},
	{"function=read", "read", "read", "name.clean"},
	{"assistant<|channel|>commentary to=functions.read <|constrain|>json", "read", "read", "name.clean"},
	{"mail<|channel|>.send", "mail.send", "mail.send", "name.clean"},
	{"read––commentary", "read", "read", "name.clean"},
	{"read--commentary", "read", "read", "name.clean"},
	{"functions.notion--search-pages", "notion__search_pages notion", "notion__search_pages", "name.case"},
	{`functions."read"`, "read", "read", "name.clean"},
	{"`read`", "read", "read", "name.clean"},
	{`read" param="path" kind="str`, "read", "read", "name.clean"},
	{"read?", "read", "read", "name.clean"},
	{"read(", "read", "read", "name.clean"},

	{"READ", "read", "read", "name.case"},
	{"web-fetch", "web_fetch", "web_fetch", "name.case"},
	{"web fetch", "web_fetch", "web_fetch", "name.case"},
	{"webFetch", "web_fetch", "web_fetch", "name.case"},
	{"WebFetchTool", "web_fetch", "web_fetch", "name.case"},
	{"read", "read_tool", "read_tool", "name.case"},
	{"mail_send", "mail.send", "mail.send", "name.case"},
	{"web-fetch", "web_fetch WebFetch", "ambiguous", ""},
	{"tool", "read", "bad_name", ""},
	{"stool", "s", "not_offered", ""},

	{"bash", "exec shell", "exec", "name.alias"},
	{"bash", "shell", "shell", "name.alias"},
	{"Bash", "exec", "exec", "name.alias"},
	{"bash", "read", "not_offered", ""},
	{"bash", "bash exec", "bash", ""},
	{"exec", "sh", "sh", "name.alias"},
	{"exec", "bash shell", "shell", "name.alias"}, // the first of the group
	{"shell", "BASH_", "BASH_", "name.alias"},
	{"search", "web_search", "web_search", "name.alias"},
	{"search", "web_search grep", "grep", "name.alias"},
	{"web_search", "search", "not_offered", ""}, // it searches files
	{"grep", "search", "search", "name.alias"},
	{"view_note", "write_note", "not_offered", ""}, // one reads
	{"write_note", "view_note", "not_offered", ""},
	{"write_note", "get_note", "get_note", "name.alias"}, // so the rule says
	{"get_note", "view_note", "view_note", "name.alias"},

	{"repo.read_file", "read_file", "read_file", "name.namespace"},
	{"a.b/read_file", "read_file", "read_file", "name.namespace"},
	{"srv__read_file", "read_file", "read_file", "name.namespace"},
	{"srv:ReadFile", "read_file", "read_file", "name.namespace"},
	{"move", "fs.move fs.copy", "fs.move", "name.namespace"},
	{"move", "fs.move box.move", "ambiguous", ""},
	{"container.exec", "read", "not_offered", ""},
	{"container.exec", "exec", "exec", "name.namespace"},

	{"execjson", "exec", "exec", "name.glued"},
	{"<|constrain|>exec", "exec", "exec", "name.clean"},
	{"execുവര", "exec", "exec", "name.glued"},
	{"exec не надо", "exec", "not_offered", ""},
	{"execjsoncommentaryjson", "exec", "exec", "name.glued"},
	{"commercial.assess_fit", "agency_commercial_assess_fit read", "agency_commercial_assess_fit",
		"name.namespace"},
	{"read_filecode", "read_file", "read_file", "name.glued"},
	{"exec json", "exec", "exec", "name.glued"},
	{"execcommentary", "exec", "exec", "name.glued"},
	{"repo.read_filejson", "read_file", "read_file", "name.glued"},
	{"to_json", "to_json to", "to_json", ""},

	{"readread", "read", "read", "name.repeated"},
	{"execexecexec", "exec", "exec", "name.repeated"},
	{"readreadx", "read", "not_offered", ""},
	{"readread", "read readread", "readread", ""},
	{"functions.readfunctions.read", "read", "read", "name.clean name.namespace"},
	{"functions.read:0", "read", "read", "name.clean name.count"},
	{"exec:12", "exec", "exec", "name.count"},
	{"exec:123", "exec", "not_offered", ""},
	{"get_page_1", "get_page", "get_page", "name.count"},
	{"get_page_1", "get_page get_page_2", "not_offered", ""},
	{"write_file_1", "write_file", "not_offered", ""}, // may be another one, and it writes
	{"read_2", "read write", "read", "name.count"},
	{"_1", "read", "not_offered", ""},
	{`functions["read"]`, "read", "read", "name.clean"},
	{`functions['exec']`, "exec", "exec", "name.clean"},
	{"functions[read]", "read", "read", "name.clean"},
	{`assistant<|channel|>commentary to=functions["exec"] <|constrain|>json`, "exec", "exec", "name.clean"},
	{`exec["ls"]`, "exec ls", "exec", "name.clean"},
	{"web‑search", "web-search", "web-search", "name.case"},
	{"functions.web‑search<|channel|>commentary", "web-search", "web-search", "name.case"},
	{"web−search", "web_search", "not_offered", ""}, // the sign of arithmetic is no dash
	{"read—commentary", "read", "read", "name.clean"},
	{`read\_file`, "read_file", "read_file", "name.clean"},
	{`functions.web\-fetch`, "web-fetch web", "web-fetch", "name.clean"},
	{`mcp\_\_files\_\_read\_file`, "read_file", "read_file", "name.clean name.namespace"},
	{"mcp__files__read_file", "read_file", "read_file", "name.namespace"},
	{"mcp_files_read_file", "read_file", "read_file", "name.namespace"},
	{"mcp-files-exec", "exec", "exec", "name.namespace"},
	{"functions_read", "read", "read", "name.namespace"},
	{"functions-read", "read functions-read", "functions-read", ""},
	{"tools_exec", "exec", "exec", "name.namespace"},
	{"functions_launch", "exec", "not_offered", ""},
	{"exec__channel__commentary", "exec", "exec", "name.namespace"},
	{"functions_exec__channel__commentary", "exec", "exec", "name.namespace"},
	{"re\u200bad", "read", "read", "name.case"},
	{"ｒｅａｄ＿file", "read_file", "read_file", "name.case"},
	{"mcp_files_create_file", "file", "not_offered", ""},
	{"mcp_files", "files", "not_offered", ""},
	{"serch_notes", "search_notes add_note", "search_notes", "name.near"},
	{"saerch_notes", "search_notes", "search_notes", "name.near"},
	{"search_ntoe", "search_notes", "not_offered", ""}, // two slips
	{"grpe", "grep", "not_offered", ""},                // too short
	{"wrte_file", "write_file", "not_offered", ""},     // writes
	{"execu", "exec", "not_offered", ""},               // executes
	{"set_user", "get_user", "not_offered", ""},        // another verb
	{"get_page1", "get_page2", "not_offered", ""},      // a digit is no slip
	{"get_pago", "get_page get_pagu", "not_offered", ""},
	{"frobnicat", "frobnicate", "not_offered", ""}, // nobody knows what it does

	{"", "read", "bad_name", ""},
	{"<|start|>", "read", "bad_name", ""},
	{"functions.", "read", "bad_name", ""},
	{"assistant", "read", "not_offered", ""},
	{"user", "read", "not_offered", ""},
	{"all", "read", "not_offered", ""},
	{"no functions.exec", "exec", "not_offered", ""},
	{"functions.read functions.exec", "read exec", "not_offered", ""},
	{"no functions.read", "read", "read", "name.namespace"},
	{"my files.exec", "exec", "not_offered", ""},
	{"repo.exec", "exec", "exec", "name.namespace"},
	{"assistant<|channel|>analysis", "read", "bad_name", ""},
	{"toolu_01abc9", "read", "bad_name", ""},
	{"call_98a1uqe2", "read", "bad_name", ""},
	{"call_me", "read", "not_offered", ""},
	{"json", "read", "answer", ""},
	{"JSON", "read", "answer", ""},
	{"<|constrain|>json", "read", "answer", ""},
	{"json", "json", "json", ""},
	{"final", "final", "final", ""},
	{"read", "", "not_offered", ""},
}

func TestName(t *testing.T) {
	for _, row := range nameRows {
		m, refusal := NewCatalog(testRules(), nil, offer(strings.Fields(row.offered)...)).Name(row.raw)
		got := m.Name
		if refusal != nil {
			got = string(refusal.Code)
		}
		if got != row.want || kinds(m.Repairs) != row.kinds {
			t.Errorf("%q of %q: got %q by %q, want %q by %q", row.raw, row.offered, got, kinds(m.Repairs),
				row.want, row.kinds)
		}
	}
}

func TestNameOpen(t *testing.T) {
	for raw, want := range map[string]string{
		"get_weather":                       "get_weather",
		"functions.math.sum":                "math.sum",
		"functions.2fa_lookup":              "2fa_lookup",
		"browser.search":                    "browser.search",
		"python":                            "python",
		"获取天气":                              "获取天气",
		"** Ask the senior researcher **":   "Ask the senior researcher",
		"get_weather<|channel|>commentary":  "get_weather",
		"":                                  "bad_name",
		"functions.":                        "bad_name",
		"We should call the weather tool a": "bad_name",
	} {
		m, refusal := OpenCatalog(testRules()).Name(raw)
		got := m.Name
		if refusal != nil {
			got = string(refusal.Code)
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", raw, got, want)
		}
	}
}

func TestNameRuleIsNamed(t *testing.T) {
	c := NewCatalog(&Rules{Groups: []Group{{Names: []Word{{"exec", "aliases.yaml:6"},
		{"bash", "aliases.yaml:7"}}}}}, nil, offer("exec"))
	m, refusal := c.Name("bash")
	if refusal != nil {
		t.Fatal(refusal)
	}
	want := Repair{Kind: "name.alias", From: "bash", To: "exec", Rule: "aliases.yaml:7"}
	if len(m.Repairs) != 1 || m.Repairs[0] != want {
		t.Errorf("got %+v, want %+v", m.Repairs, want)
	}
}

func TestRefusalTellsWhatToUse(t *testing.T) {
	for _, row := range []struct{ raw, offered, want string }{
		{"fly", "read write", `no tool "fly" is offered; use one of "read", "write", or answer in text`},
		{"fly", "", `no tool "fly" is offered; no tools are offered: answer in text`},
		{"container.exec", "read",
			`"container.exec" is not available here; use one of "read", or answer in text`},
		{"web-fetch", "web_fetch WebFetch",
			`"web-fetch" could be "web_fetch", "WebFetch"; use the exact name`},
	} {
		_, refusal := NewCatalog(testRules(), nil, offer(strings.Fields(row.offered)...)).Name(row.raw)
		if refusal == nil || refusal.Why != row.want {
			t.Errorf("%q: got %v, want %q", row.raw, refusal, row.want)
		}
	}
}

func TestClass(t *testing.T) {
	for name, want := range map[string]Class{
		"get_time": Read, "web_search": Read, "searchNotes": Read, "ls": Read,
		"write_file": Write, "update_search_index": Write, "deleted_items_list": Write, "frobnicate": Write,
		"":     Write,
		"exec": Exec, "run_query": Exec, "getShell": Exec, "write_and_run": Exec,
		"sessions_search": Write, "search_and_frob": Write, "get_then_frob_it": Write,
		"search_and_read": Read, "get_terms_and_list": Read,
		"get_order": Read, "order": Write, "order_frobnicate": Write, "cancel_order": Write,
		"open_url": Read, "open_file": Read, "OpenFile": Read, "reopen_file": Write, // by the group
		"spawn_agent": Write, "team_run_task": Write, "multi__spawn_agent": Write, "runAgent": Write,
		"run_agent_search": Write, "team_cancel_run": Write, "sessions_spawn": Write, "agent": Write,
		"list_team":         Read,
		"run_agent_command": Exec, "run_agent_commands": Exec, "agent_shell": Exec, "execute_team": Exec,
		"spawn_process": Exec, "run_task": Exec, "spawn": Exec, "list_commands": Read,
	} {
		if got := testRules().Class(name); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

func TestHasPrefix(t *testing.T) {
	c := catalogOf("web_fetch", "read")
	for word, want := range map[string]bool{"": true, "web": true, "web_fetch": true, "web_fetches": false,
		"x": false} {
		if got := c.HasPrefix(word); got != want {
			t.Errorf("%q: got %v", word, got)
		}
	}
	if !OpenCatalog(nil).HasPrefix("anything") || OpenCatalog(nil).HasPrefix("a(b") {
		t.Error("an open catalog takes any word of name characters, and only those")
	}
}

// FuzzName: no name makes Name panic, and what it finds is always an offered tool.
func FuzzName(f *testing.F) {
	for _, row := range nameRows {
		f.Add(row.raw, row.offered)
	}
	f.Fuzz(func(t *testing.T, raw, offered string) {
		tools := strings.Fields(offered)
		c := NewCatalog(testRules(), nil, offer(tools...))
		m, refusal := c.Name(raw)
		if (refusal == nil) != c.Exact(m.Name) {
			t.Errorf("%q of %q: %q is no offered tool (%v)", raw, offered, m.Name, refusal)
		}
		if c.Exact(raw) && m.Name != raw {
			t.Errorf("the exact name %q became %q", raw, m.Name)
		}
		for _, r := range m.Repairs {
			if len(r.From) > 80 || len(r.To) > 80 || utf8.ValidString(raw) && !utf8.ValidString(r.From) {
				t.Errorf("repair %+v is too long or cut inside a character", r)
			}
		}
		if open, refusal := OpenCatalog(testRules()).Name(raw); refusal == nil && open.Name == "" {
			t.Errorf("%q: an open catalog accepts nothing as a name", raw)
		}
	})
}

func BenchmarkName(b *testing.B) {
	c := NewCatalog(testRules(), nil,
		offer(strings.Fields("apply_patch edit exec ls openclaw process read sessions_yield write tool_search tool_describe tool_call")...))
	for _, raw := range []string{"exec", "functions.exec", "Exec<|channel|>commentary",
		"sessions_yeild_now"} {
		b.Run(raw, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.Name(raw)
			}
		})
	}
}

// TestNameTakesLinearTime: a name as long as a whole reply costs next to nothing.
func TestNameTakesLinearTime(t *testing.T) {
	c := NewCatalog(testRules(), nil, offer("read"))
	for _, unit := range []string{"<|start|>", "a<|channel|>.", "functions.", "to=", "a.", "__", "\x80",
		"A"} {
		if m, refusal := c.Name(strings.Repeat(unit, 1<<20/len(unit))); refusal == nil {
			t.Errorf("%q repeated is %q", unit, m.Name)
		}
	}
}
