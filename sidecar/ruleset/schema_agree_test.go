package ruleset

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"
	"pgregory.net/rapid"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/sidecar/config"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// beyond is what `check` finds and a JSON Schema cannot say. Everything else of the
// codes E-key, E-missing, E-type and E-value an editor must underline, too, and it
// may underline nothing else. (Of numbers the two differ where people do not write
// them: JSON Schema takes 1.0 and 1e3 for whole numbers, knows neither 0x10 nor
// overflow, and to YAML 1.1, but not to editors, 2026-01-31 is a date.)
var beyond = regexp.MustCompile(`` +
	// how several keys go together, or a duration and a size are more than text
	`must be at least 1(KiB|6MiB|0ms|s)$|^line cannot be more|^keepalive must be shorter|^wait_min cannot be more|^loop has .*, so it needs |^ask cannot be more|^reserve must be less|^trim_at cannot be more|^sampling of ` +
	// what stands at the end of a list, or that it is not empty; what an included file says
	`|^the last server cannot have detect| lacks detect$|^there is no (server|model|reader|style)` +
	// the grammar of a text: an id, a name, a sentence
	`|cannot be an id$|cannot be the name of a list$|already means something in a condition$|needs a sentence$|is not an absolute path$|^/ is the whole machine` +
	`|is not filled in here$|is not a base URL$|is not a single command$|does not say which tool|^each (needs|reads)` +
	`|^an empty pattern fits every text$|is no address$|cannot be a known host|does not say where .workspace. stands$|something else in braces|begins with no words|^nothing stands between|^this is too long$|^text is empty$|names no field$|has no path$` +
	// the words of a row of a program, and folders and variables of confined commands
	`|stands here twice$|as it begins with no dash$|^only one kind of operands|is no kind of value, and no effect$|is no effect$` +
	`|cannot be a folder of confined commands|^this is no name of a variable$` +
	// what a sign is found in
	`|^the sign is (not )?found in this text$` +
	// a JSON Schema in a file
	`|is no name of a tool$|are no JSON Schema|have no type: object$` +
	// how the keys of a style go together, and what its template has
	`|goes with schema: true$| lacks otherwise, |has a schema, too$|does not say how calls|^native is no name for a style` +
	// what the parser says about a strategy as a whole
	`|: has no id|needs (open|close|tools|envelope|find)|cannot open a call|in open is for|can be enabled once|^until does not go`)

// structural reports whether a problem is one that a schema can say. A class of tools that is none is
// E-ref, since it looks like a name; there are only three.
func structural(p rulefile.Problem) bool {
	switch p.Code {
	case rulefile.CodeKey, rulefile.CodeMissing, rulefile.CodeType, rulefile.CodeValue:
		return !beyond.MatchString(p.Msg) && !strings.HasPrefix(p.Hint, "nothing that is included has the ")
	case rulefile.CodeRef:
		return strings.HasSuffix(p.File, argumentsFile) && strings.HasPrefix(p.Msg, "there is no class ")
	}
	return false
}

// found gives what `check`, or serve, finds in one file and what it includes. Others are
// not read, and no example or test is tried: a schema knows nothing of them.
func found(others rulefile.Files, file, doc string) (out rulefile.Problems) {
	if file == configFile {
		return new(config.Settings).Read(file, doc, func(string) (string, bool) { return "", false })
	}
	files := maps.Clone(others)
	maps.DeleteFunc(files, func(name, _ string) bool {
		return !strings.HasPrefix(name, rulefile.PackFolder+"/") &&
			!strings.HasPrefix(name, rulefile.BuiltinFolder+"/")
	})
	files[file] = doc
	return slices.DeleteFunc(Full.prepare(files, false).problems,
		func(p rulefile.Problem) bool { return p.File != file })
}

// agree fails where check and the schema differ about a file.
func agree(t interface{ Errorf(string, ...any) }, s *jsonschema.Schema, others rulefile.Files,
	file, doc string) (refused bool) {
	err := s.Validate(rulefile.JSON(doc))
	if problems := found(others, file, doc); (err != nil) != slices.ContainsFunc(problems, structural) {
		t.Errorf("%s: check and the schema differ.\ncheck: %v\nschema: %v", file, problems, err)
	}
	return err != nil
}

// TestMistakes: what people get wrong, and who tells them.
func TestMistakes(t *testing.T) {
	schemas, files := compiledSchemas(t), shipped(t)
	files[configFile] = configText
	const nobody, both, check = 0, 1, 2
	for _, c := range []struct {
		file, old, new string
		sees           int
	}{
		{strategiesFile, "kind: lines", "knid: lines", both},
		{strategiesFile, "kind: lines", "kind: line", both},
		{strategiesFile, "kind: lines", "kind: [lines]", both},
		{strategiesFile, "kind: lines", "kind: frame", both},  // and lacks frame
		{strategiesFile, "kind: lines", "kind: native", both}, // and has lines
		{strategiesFile, "  - id: react\n", "  - enabled: true\n", both},
		{strategiesFile, "priority: 70", "priority: 1001", both},
		{strategiesFile, "priority: 70", "priority: '70'", both},
		{strategiesFile, "confidence: 0.9\n", "confidence: 1.1\n", both},
		{strategiesFile, "read: [content, reasoning]", "read: content", both},
		{strategiesFile, "read: [content, reasoning]", "read: [contents]", both},
		{strategiesFile, "lines:\n", "lines: []\n    block:\n", both},
		{strategiesFile, "enabled: false", "enabled: no", both},
		{strategiesFile, "open: ['<tool>', '<action>']", "open: []", check},             // needs open
		{strategiesFile, "only: [native, harmony]", "only: [native, harmonie]", nobody}, // E-ref
		{strategiesFile, "len(text) < 4000", "len(txt) < 4000", nobody},                 // E-name
		{aliasesFile, "  edit: [", "  edit: null # [", both},
		{aliasesFile, "version: 1", "version: 2", both},
		{argumentsFile, "  exec: [exec,", "  run: [exec,", both},
		{argumentsFile, "as: url", "as: uri", both},
		{limitsFile, "idle: 2m", "idle: 2 min", both},
		{limitsFile, "idle: 2m", "idle: 120", both},
		{limitsFile, "idle: 2m", "", both},
		{limitsFile, "idle: 2m", "idle: 3s", check}, // shorter than keepalive
		{limitsFile, "line: 8MiB", "line: 8M", both},
		{limitsFile, "line: 8MiB", "line: 8388608", nobody},
		{limitsFile, "line: 8MiB", "line: 64MiB", check}, // more than reply
		{limitsFile, "times: 3", "times: 3.5", both},
		{serversFile, "tool_choice: drop", "tool_choice: none", both},
		// lacks find or field; and twice about
		{serversFile, "field: error.failed_generation", "about: x", both},
		{serversFile, "    detect:\n      - {path: /api/version, contains: '\"version\":'}\n", "", check},
		{modelsFile, "mode: provider", "mode: proxy", both},
		{modelsFile, "mode: provider", "mode: provider\n    upstream: localhost", check},
		{modelsFile, "mode: provider", "mode: provider\n    sampling: {temperature: warm}", check},
		{recoveryFile, "  empty:\n", "  emtpy:\n", both},
		{recoveryFile, "status: 502", "status: 200", both},
		{recoveryFile, "action: give_up", "action: resample", both}, // and lacks attempts
		{recoveryFile, "    type: server_error\n", "", both},
		{recoveryFile, "retry_after: 5s", "retry_after: 5", both},
		{recoveryFile, "{tool} could mean", "{tol} could mean", check},
		{strategiesFile, "kind: lines", "kind: frame", both}, // and lacks frame
		{execFilename, "profile: developer", "profile: audit", both},
		{execFilename, "    deny: This", "    deny: x\n    allow: This", both},
		{execFilename, "    deny: This", "    about: This", both},
		{execFilename, "in container_looks", "in container_look", nobody},
		{configFile, "log_level: info", "log_level: loud", both},
		{configFile, "server: vllm", "servers: vllm", both},
		{configFile, "token: a token", "token: 12345", both},
	} {
		doc := testkit.Replace(t, files[c.file], c.old, c.new, 1)
		refused := agree(t, schemas[c.file], files, c.file, doc)
		finds := slices.ContainsFunc(found(files, c.file, doc),
			func(p rulefile.Problem) bool { return beyond.MatchString(p.Msg) })
		if refused != (c.sees == both) || c.sees != both && finds != (c.sees == check) {
			t.Errorf("%s: %q for %q: the schema refuses it: %v; check finds more: %v", c.file, c.new, c.old,
				refused, finds)
		}
	}
}

// TestIncludingFiles: a file that includes others may leave out what they say.
func TestIncludingFiles(t *testing.T) {
	schemas, files := compiledSchemas(t), shipped(t)
	for _, name := range Full.FileNames() {
		files["builtin/"+name] = files[name]
	}
	for _, c := range []struct {
		file, over string
		fits       bool
	}{
		{strategiesFile, "", true},
		{strategiesFile, "strategies: [{id: fuzzy, enabled: true}]", true},
		{strategiesFile, "strategies: [{id: guided_json, json: {done: [finished]}}]", true},
		{strategiesFile, "strategies: [{enabled: true}]", false},
		{strategiesFile, "strategies: [{id: fuzzy, enabled: 1}]", false},
		{strategiesFile, "strategies: [{id: fuzzy, hit: [{text: x}]}]", false}, // whole, since it has no id
		{strategiesFile, "strategies: [{id: react, kind: lines, block: {done: [x]}}]", false},
		{strategiesFile, "include: builtin/strategies.yaml", false},
		{resultsFile, "results: [{mode: executor, tool: read, delete: true}]", true},
		{execFilename, "rules: [{id: disk, when: null}]", false},
		{limitsFile, "time: {idle: 5m}", true},
		{limitsFile, "time: {idle: 5 minutes}", false},
		{limitsFile, "time: {idel: 5m}", false},
		{recoveryFile, "faults: {empty: {attempts: 1}}", true},
		{recoveryFile, "faults: {full: {attempts: 1}}", false},
		{serversFile, "servers: [{id: vllm, effort: {allowed: [low]}}]", true},
		{serversFile, "servers: [{id: vllm, detect: [{contains: x}]}]", false},
		{modelsFile, "models: [{id: gpt-oss, sampling: {temperature: 0.7}}]", true},
		{argumentsFile, "tools: {read: {arguments: {path: [p]}}}", true},
		{aliasesFile, "hit: [{name: google}]", false},
	} {
		doc := "version: 1\ninclude: [builtin/" + c.file + "]\n" + c.over
		if strings.HasPrefix(c.over, "include") {
			doc = "version: 1\n" + c.over
		}
		if refused := agree(t, schemas[c.file], files, c.file, doc); refused == c.fits {
			t.Errorf("%s\n%s\nfits: %v, want %v", c.file, doc, !refused, c.fits)
		}
		// which must be there
		agree(t, schemas[c.file], files, c.file, strings.TrimPrefix(doc, "version: 1\n"))
	}
}

// lockedSamples are files of a locked folder.
var lockedSamples = rulefile.Files{
	lockedName(strategiesFile): "version: 1\nkinds: [native, harmony]\noff: [fuzzy]\n",
	lockedName(argumentsFile):  "version: 1\nclasses: {exec: [deploy], write: [mail]}\n",
	lockedName(limitsFile):     "version: 1\nsize: {reply: 16MiB}\ntime: {idle: 1m}\nretry: {times: 1}\n",
}

// TestEditorsSeeWhatCheckSees: whatever somebody breaks in a file, an editor and
// `check` agree that it is broken.
func TestEditorsSeeWhatCheckSees(t *testing.T) {
	schemas, files := compiledSchemas(t), shipped(t)
	refused, tried := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		for range 2 {
			d := rapid.SampledFrom(described()).Draw(rt, "file")
			var doc yaml.Node
			text, beside := files[d.file], files
			switch {
			case d.file == configFile:
				text = configText
			case text == "": // none of a locked folder is shipped
				text, beside = lockedSamples[d.file], maps.Clone(files)
			}
			if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
				rt.Fatal(err)
			}
			uncomment(&doc) // yaml.v3 cannot read each comment that it writes into brackets
			for range rapid.IntRange(1, 2).Draw(rt, "mutations") {
				mutate(rt, doc.Content[0])
			}
			broken, err := yaml.Marshal(&doc)
			if err != nil {
				rt.Fatal(err)
			}
			rt.Logf("%s", broken)
			tried++
			if agree(rt, schemas[d.file], beside, d.file, string(broken)) {
				refused++
			}
		}
	})
	if refused == 0 || refused == tried {
		t.Errorf("%d of %d files were refused: the mutations test nothing", refused, tried)
	}
}

// uncomment removes all comments.
func uncomment(n *yaml.Node) {
	n.HeadComment, n.LineComment, n.FootComment = "", "", ""
	for _, c := range n.Content {
		uncomment(c)
	}
}

// mutate changes one place below a mapping or list.
func mutate(t *rapid.T, root *yaml.Node) {
	at := root
	for {
		next := inside(at)
		if len(next) == 0 || at != root && rapid.IntRange(0, 3).Draw(t, "stop") == 0 {
			break
		}
		at = rapid.SampledFrom(next).Draw(t, "step")
	}
	switch change := rapid.SampledFrom([]string{"value", "value", "drop", "rename", "add", "wrap",
		"unwrap"}).Draw(t, "change"); {
	case change == "value":
		*at = *rapid.Custom(someValue).Draw(t, "value")
	case change == "wrap":
		inner := *at
		*at = yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle, Content: []*yaml.Node{&inner}}
	case change == "unwrap" && len(inside(at)) > 0:
		*at = *inside(at)[0]
	case at.Kind != yaml.MappingNode || len(at.Content) == 0:
		at.Content = at.Content[:max(0, len(at.Content)-1)]
	case change == "add":
		at.Content = append(at.Content, plain("!!str", "surplus"), rapid.Custom(someValue).Draw(t, "added"))
	default:
		i := 2 * rapid.IntRange(0, len(at.Content)/2-1).Draw(t, "entry")
		if change == "rename" {
			at.Content[i].Value += "s"
		} else {
			at.Content = slices.Delete(at.Content, i, i+2)
		}
	}
}

// inside are the values of a mapping, or the entries of a list.
func inside(n *yaml.Node) (out []*yaml.Node) {
	for i, c := range n.Content {
		if n.Kind != yaml.MappingNode || i%2 == 1 {
			out = append(out, c)
		}
	}
	return out
}

// someValue is a value of any type, often one that is right somewhere.
func someValue(t *rapid.T) *yaml.Node {
	switch kind := rapid.SampledFrom([]string{"!!str", "!!int", "!!float", "!!bool", "!!null", "[]",
		"{}"}).Draw(t, "type"); kind {
	case "!!str":
		return plain(kind, rapid.SampledFrom([]string{"", "x", "block", "json", "native", "correct",
			"give_up", "resample", "content",
			"reasoning", "read", "auto", "system", "high", "info", "1", "true", "5s", "-5s", "1h30m", "5 min",
			"16MiB", "16M", "http://a/v1"}).Draw(t, "text"))
	case "!!int":
		return plain(kind, rapid.SampledFrom([]string{"-1", "0", "1", "2", "7", "21", "404", "1001", "4097",
			"2000000"}).Draw(t, "int"))
	case "!!float":
		return plain(kind, rapid.SampledFrom([]string{"-0.5", "0.5", "1.5", "300.5"}).Draw(t, "float"))
	case "!!bool":
		return plain(kind, rapid.SampledFrom([]string{"true", "false"}).Draw(t, "bool"))
	case "!!null":
		return plain(kind, "null")
	case "[]":
		return &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle,
			Content: rapid.SliceOfN(rapid.Custom(someValue), 0, 1).Draw(t, "entries")}
	default:
		return &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle,
			Content: []*yaml.Node{plain("!!str", "x"), rapid.Custom(someValue).Draw(t, "of x")}}
	}
}

func plain(tag, value string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: value}
}
