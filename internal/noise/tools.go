package noise

// pool returns the tools that cases draw from: those of OpenClaw, and strangers.
func pool() []Tool {
	p := func(pairs ...string) (out []Param) {
		for i := 0; i < len(pairs); i += 2 {
			out = append(out, Param{pairs[i], pairs[i+1]})
		}
		return out
	}
	return []Tool{
		{"exec", "Runs a shell command", Executes, p("command", "shell")},
		{"process", "Manages a running process", Executes, p("action", "word", "sessionId", "id")},
		{"read", "Reads a file", Reads, p("path", "path")},
		{"write", "Writes a file", Writes, p("path", "path", "content", "code")},
		{"edit", "Replaces text in a file", Writes, p("path", "path", "oldText", "code", "newText", "text")},
		{"apply_patch", "Applies a patch", Writes, p("input", "patch")},
		{"web_search", "Searches the web", Reads, p("query", "text", "count", "int")},
		{"web_fetch", "Fetches a page", Reads, p("url", "url")},
		{"message", "Sends a message", Writes, p("to", "id", "text", "text")},
		{"memory_search", "Searches the memory", Reads, p("query", "text")},
		{"cron", "Sets a scheduled job", Executes, p("schedule", "word", "job", "object")},
		{"browser", "Drives a browser", Executes, p("action", "word", "targetUrl", "url")},
		{"sessions_send", "Sends to a session", Writes, p("sessionKey", "id", "message", "text")},
		{"image", "Describes an image", Reads, p("image", "path", "prompt", "text")},
		{"calendar_create_event", "Creates an event", Writes, p("title", "text", "attendees", "list", "allDay", "bool")},
		{"get_weather", "Tells the weather", Reads, p("location", "place", "days", "int")},
		{"ticket_update", "Changes a ticket", Writes, p("ticket", "int", "fields", "object")},
		{"sql_query", "Queries a database", Reads, p("sql", "sql", "params", "list")},
		{"home_set_light", "Sets a lamp", Executes, p("entity", "id", "brightness", "float", "on", "bool")},
		{"github__create_issue", "Opens an issue", Writes, p("repo", "path", "title", "text", "labels", "list")},
		{"notion__search_pages", "Searches pages", Reads, p("query", "text", "filter", "object")},
		{"translate_text", "Translates a text", Reads, p("text", "text", "target", "word")},
		{"convert_currency", "Converts money", Reads, p("amount", "float", "from", "word", "to", "word")},
		{"list_directory", "Lists a folder", Reads, p("path", "path", "recursive", "bool")},
		{"order_lookup", "Finds an order", Reads, p("order_id", "big", "notes", "empty")},
	}
}

// Schema is the JSON Schema of the tool's arguments.
func (t Tool) Schema() map[string]any {
	props, required := map[string]any{}, []string{}
	for _, p := range t.Params {
		kind := map[string]any{"type": "string"}
		switch p.Kind {
		case "int", "big":
			kind["type"] = "integer"
		case "float":
			kind["type"] = "number"
		case "bool":
			kind["type"] = "boolean"
		case "object":
			kind["type"] = "object"
		case "list":
			kind = map[string]any{"type": "array", "items": map[string]any{"type": "string"}}
		}
		props[p.Name] = kind
		required = append(required, p.Name)
	}
	return map[string]any{"type": "object", "properties": props, "required": required,
		"additionalProperties": false}
}

// value draws a value of a kind.
func (d *draft) value(kind string) any {
	switch kind {
	case "int":
		return 1 + d.IntN(5000)
	case "big":
		return int64(1)<<52 + d.Int64N(1<<52)
	case "float":
		return float64(d.IntN(100000)) / 100
	case "bool":
		return d.IntN(2) == 0
	case "list":
		list := make([]string, d.IntN(4))
		for i := range list {
			list[i] = pick(d.Rand, values("text"))
		}
		return list
	case "object":
		inner := map[string]any{"note": pick(d.Rand, values("text")), "n": d.IntN(99)}
		if d.IntN(2) == 0 {
			inner["nested"] = map[string]any{"tags": []string{"a b", pick(d.Rand, values("path"))},
				"open": true, "none": nil}
		}
		return inner
	}
	return pick(d.Rand, values(kind))
}

// values are texts of a kind that have what breaks readers: quotes, line ends, braces, markup.
func values(kind string) []string {
	switch kind {
	case "shell":
		return []string{`ls -la`, `git log --oneline | head -5`, `grep -rn "func main" . --include='*.go'`,
			`echo "a \"b\" c" > /tmp/x`,
			"cat <<'EOF' > notes.md\n# Title\n{ \"a\": 1 }\nEOF", `awk '{print $1}' log.txt | sort | uniq -c`,
			`find . -name '*.py' -exec wc -l {} +`,
			`curl -s 'https://api.example.org/v1?q=a&b=c' | jq '.items[].name'`, `printf '%s\n' "$HOME"`,
			`sed -i 's/foo\/bar/baz/g' a.txt`}
	case "path":
		return []string{"src/main.go", "/home/ann/Documents/Q3 report (final).txt", "docs/Größe.md",
			`C:\Users\ann\new\table.csv`, "資料/計画.md", "./a/../b.json", "/var/log/syslog.1"}
	case "code":
		return []string{"package main\n\nfunc main() {\n\tprintln(\"hi\")\n}\n",
			"def f(x):\n    return {'a': x, \"b\": [1, 2]}\n",
			"<div class=\"a\">\n  <b>Hi &amp; bye</b>\n</div>",
			"const a = `${b}`; // done\n", "SELECT \"a\" FROM t WHERE x = 'y';",
			"{\n  \"name\": \"pkg\",\n  \"v\": [1, 2]\n}",
			"#include <stdio.h>\n/* a */ int main(void) { return 0; }\n"}
	case "patch":
		return []string{"*** Begin Patch\n*** Update File: a.go\n@@\n-old \"x\"\n+new {y}\n*** End Patch",
			"*** Begin Patch\n*** Add File: b/ü.txt\n+line 1\n+\n+line 3\n*** End Patch"}
	case "url":
		return []string{"https://example.org/", "https://example.org/a?q=x%20y&lang=de#top",
			"http://127.0.0.1:8080/api?f={id}", "https://ja.wikipedia.org/wiki/日本"}
	case "sql":
		return []string{"SELECT * FROM users WHERE name = 'O''Brien'",
			"select count(*)\nfrom orders -- all\nwhere total > 5", `SELECT "first name" FROM t`}
	case "word":
		return []string{"list", "open", "EUR", "USD", "daily", "poll", "fr"}
	case "id":
		return []string{"light.kitchen", "agent:main:42", "+491701234567", "proc-7f3a", "@ann"}
	case "place":
		return []string{"Berlin", "São Paulo", "東京", "Paris, France", "الرياض"}
	case "empty":
		return []string{"", " ", "-"}
	}
	return []string{"weather tomorrow", `she said "no", then left`, "line one\nline two", "naïve café — 5 €",
		"Привет, мир", "你好，世界", "call the tool get_weather with {\"a\": 1}",
		"", "back\\slash", "a, b: c; {d} [e]", "tabs\there", "it's 100% done", "🙂 ok",
		"to=functions.x is a header", "مرحبا"}
}
