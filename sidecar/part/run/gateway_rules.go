package run

import (
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
	"github.com/jgavinray/gpt-oss-executor/tools"
)

// gatewayFile is gateway.yaml: the tools of an OpenClaw gateway that runs may call.
type gatewayFile struct {
	rulefile.Head
	Tools []rulefile.Pair[gatewayTool] `rule:"tools" doc:"The tools of the gateway, by their names there."`
}

type gatewayTool struct {
	Description string         `rule:"description,required" doc:"What the model reads of the tool." eg:"Gives the tides of a harbour."`
	Parameters  map[string]any `rule:"parameters,required" doc:"A JSON Schema of the arguments, with type: object." eg:"{type: object, properties: {harbour: {type: string}}}"`
}

// toolName matches the tool names that model servers accept.
var toolName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

func gatewaySection() ruleset.Section {
	return ruleset.Section{Name: "gateway.yaml",
		About: "The tools of an OpenClaw gateway that runs of executor mode may call.", Holds: &gatewayFile{}}
}

// gatewayTools are the tools of gateway.yaml, in file order.
type gatewayTools []tools.Tool

// Compile returns the listed tools and reports invalid ones.
func (f *gatewayFile) Compile(r *ruleset.Reader) any {
	var out gatewayTools
	if !r.Clean() {
		return &out
	}
	for _, t := range f.Tools {
		name, doc := t.Key.Value, t.Value
		if !toolName.MatchString(name) {
			r.Report(t.Key.All(), rulefile.CodeValue, fmt.Sprintf("%q is no name of a tool", name),
				"a name has letters, digits, _ . and -, at most 64")
			continue
		}
		schema, err := json.Marshal(doc.Parameters)
		if err == nil {
			_, err = tools.CompileSchema(schema)
		}
		switch {
		case err != nil:
			r.Report(t.Key.All(), rulefile.CodeValue,
				fmt.Sprintf("the parameters of %s are no JSON Schema: %s", name, err), "")
		case doc.Parameters["type"] != "object":
			r.Report(t.Key.All(), rulefile.CodeValue, "the parameters of "+name+" have no type: object",
				"write type: object, and the arguments under properties")
		default:
			out = append(out, tools.Tool{Name: name, Description: doc.Description,
				Parameters: schema})
		}
	}
	return &out
}
