package run

import (
	"encoding/json"

	"github.com/jgavinray/gpt-oss-executor/tools"
)

// offered are the tools, as the model gets to know them.
var offered = []tools.Tool{
	tool("read", "Read a text file of the workspace. A long file comes in parts, and of a line longer than all that is given at once the beginning.",
		need("path", str("The file, from the workspace or absolute.")),
		may("offset", num("The first line, from 1.")), may("limit", num("How many lines at most."))),
	tool("write", "Write a whole file, in place of what stood there. Folders on the way are made.",
		need("path", str("The file.")), need("content", str("All of its new text."))),
	tool("edit", "Replace a text in a file. The old text must stand there exactly once.",
		need("path", str("The file.")),
		need("oldText", str("The text as it stands in the file, with enough around it to be the only one.")),
		need("newText", str("The text in its place."))),
	tool("apply_patch", "Change several files with one patch: *** Begin Patch, then *** Add File: NAME with lines that begin with +, *** Delete File: NAME, or *** Update File: NAME with hunks that begin with @@ and have lines that begin with a blank, - or +; then *** End Patch.",
		need("input", str("The patch."))),
	tool("ls", "List a folder.", may("path", str("The folder; left out: the workspace."))),
	tool("grep", "Search files for a regular expression (RE2). Gives file:line: text.",
		need("pattern", str("The regular expression.")),
		may("path", str("A file or folder; left out: the workspace.")),
		may("glob", str("Only files whose name fits, such as *.go.")),
		may("limit", num("How many lines at most."))),
	tool("glob", "Find files by a pattern, such as src/**/*.go.",
		need("pattern", str("The pattern, from the workspace.")),
		may("path", str("The folder in which to look."))),
	tool("exec", "Run a command with bash in the workspace, and give what it prints and its exit code.",
		need("command", str("The command.")), may("workdir", str("The folder to run it in.")),
		may("timeoutSeconds", num("How long it may take."))),
	tool("fetch", "Get a page or a document by its URL, as text.",
		need("url", str("The URL: https://…")),
		may("maxChars", num("How many characters of the text at most."))),
}

// property is an argument of a tool.
type property struct {
	name     string
	schema   map[string]string
	required bool
}

func need(name string, schema map[string]string) property { return property{name, schema, true} }
func may(name string, schema map[string]string) property  { return property{name, schema, false} }

func str(about string) map[string]string {
	return map[string]string{"type": "string", "description": about}
}
func num(about string) map[string]string {
	return map[string]string{"type": "integer", "description": about}
}

func tool(name, about string, properties ...property) tools.Tool {
	required, all := []string{}, map[string]any{}
	for _, p := range properties {
		all[p.name] = p.schema
		if p.required {
			required = append(required, p.name)
		}
	}
	schema, err := json.Marshal(map[string]any{"type": "object", "properties": all, "required": required,
		"additionalProperties": false})
	if err != nil {
		panic(err) // strings have no error
	}
	return tools.Tool{Name: name, Description: about, Parameters: schema}
}
