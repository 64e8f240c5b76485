package ruleset

import (
	"regexp"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// serverFile is servers.yaml.
type serverFile struct {
	Version int        `rule:"version,required" one:"1" doc:"The version of the format of this file."`
	Common  ErrorRules `rule:"common,required" doc:"What the texts of errors mean, for every server."`
	Servers []Server   `rule:"servers,required" doc:"The dialects. The first of which a probe is a hit counts; the last has no probe and fits every server."`
}

// Server is the dialect of one kind of gpt-oss server, as data. The error rules of
// `common` stand at the end of each server's own.
type Server struct {
	At             rulefile.Place
	ID             rulefile.Text     `rule:"id,required" doc:"Its name in models.yaml, settings and traces." eg:"vllm"`
	About          string            `rule:"about,required" doc:"Which servers it is for." eg:"vLLM from 0.12 on."`
	Detect         []Probe           `rule:"detect" doc:"Questions that tell it from other servers; one hit is enough."`
	Models         string            `rule:"models" doc:"Path of the model list, after /v1." eg:"/models"`
	Props          string            `rule:"props" doc:"A further path that tells the context window, from the root of the host." eg:"/props"`
	Window         []string          `rule:"window" doc:"Where the answers of models and props hold the context window (gjson paths)." eg:"[data.0.max_model_len]"`
	ReasoningIn    []string          `rule:"reasoning_in,required" doc:"Fields in which replies may carry the chain of thought." eg:"[reasoning, reasoning_content]"`
	ReasoningOut   []string          `rule:"reasoning_out,required" doc:"Fields in which it is given back with the history." eg:"[reasoning]"`
	Rename         map[string]string `rule:"rename" doc:"Fields of the request that are called something else here." eg:"{max_completion_tokens: max_tokens}"`
	DropFields     []string          `rule:"drop_fields" doc:"Fields of the request that the server chokes on." eg:"[parallel_tool_calls]"`
	DropEmptyTools bool              `rule:"drop_empty_tools" doc:"true leaves out an empty list of tools."`
	DropStrict     bool              `rule:"drop_strict" doc:"true leaves out strict of each tool."`
	FoldSystem     bool              `rule:"fold_system" doc:"true puts later system and developer messages into the first one."`
	SystemRole     string            `rule:"system_role" one:"system" doc:"system: developer messages are sent as system messages."`
	FlattenParts   bool              `rule:"flatten_parts" doc:"true makes a list of text parts one text."`
	ToolChoice     string            `rule:"tool_choice,required" one:"pass auto drop" doc:"pass sends it as it is, auto makes what forces a call auto, drop leaves it out."`
	Effort         Effort            `rule:"effort,required" doc:"How the server takes the reasoning effort."`
	Structured     string            `rule:"structured" doc:"The field that takes a bare JSON Schema; left out: response_format as it is." eg:"guided_json"`
	ErrorRules     `rule:"errors" doc:"As under common, for this server alone; tried first."`
}

// Probe is one question to a server.
type Probe struct {
	Path     string `rule:"path,required" doc:"From the root of the host." eg:"/version"`
	Contains string `rule:"contains" doc:"What a 200 answer contains, white space left out; left out: any JSON object." eg:"'\"owned_by\":\"vllm\"'"`
}

// Effort is how a server takes the reasoning effort.
type Effort struct {
	Field   string            `rule:"field,required" doc:"Where it goes in the request." eg:"reasoning_effort"`
	Allowed []string          `rule:"allowed,required" one:"none minimal low medium high xhigh max" doc:"What the server accepts." eg:"[low, medium, high]"`
	Map     map[string]string `rule:"map" doc:"What other values become; an empty text leaves the field out." eg:"{minimal: low, max: high}"`
}

// ErrorRules is what the texts of errors mean.
type ErrorRules struct {
	Overflow       []Pattern     `rule:"overflow" doc:"The prompt is too long. Groups of the patterns: limit, requested, prompt, output."`
	OutputTooLarge []Pattern     `rule:"output_too_large" doc:"max_tokens alone is too large. Groups of the patterns: limit, prompt."`
	Retry          []Pattern     `rule:"retry" doc:"The model slipped and the server could not read it: ask again."`
	Recover        []CallPattern `rule:"recover" doc:"Error bodies that hold what the model wrote."`
	Hints          []Hint        `rule:"hints" doc:"What an operator can do about an error."`
}

// Pattern recognises the text of an error.
type Pattern struct {
	At    rulefile.Place
	About string          `rule:"about" doc:"Which server says it, or why this stands here." eg:"our proxy"`
	Find  rulefile.Text   `rule:"find,required" doc:"A regular expression (RE2) over the text of the error." eg:"'(?i)context is (?P<limit>[0-9]+) tokens'"`
	Hit   []errorText     `rule:"hit" doc:"Texts that it finds, tried whenever the rules are loaded."`
	Miss  []rulefile.Text `rule:"miss" doc:"Texts that it does not find, tried whenever the rules are loaded." eg:"[Unexpected token in JSON]"`

	Match *regexp.Regexp // Find, compiled
}

// CallPattern finds generated text in an error body: the value of Field, or, where that is
// empty, what the groups of Match find in the text of the error.
type CallPattern struct {
	At    rulefile.Place
	About string          `rule:"about" doc:"Which server says it, or why this stands here." eg:"our proxy"`
	Field string          `rule:"field" doc:"Path of the generated text in the body (gjson)." eg:"error.failed_generation"`
	Find  *rulefile.Text  `rule:"find" doc:"A regular expression (RE2) over the text of the error; its group args is arguments, its group text generated text." eg:"'raw=(?P<args>.*), err='"`
	Hit   []errorText     `rule:"hit" doc:"Texts that it finds, tried whenever the rules are loaded."`
	Miss  []rulefile.Text `rule:"miss" doc:"Texts that it does not find, tried whenever the rules are loaded." eg:"[Unexpected token in JSON]"`

	Match *regexp.Regexp // Find, compiled; nil where Field is enough
}

// Hint is a sentence for the operator where the text of an error matches.
type Hint struct {
	Pattern
	Say    string `rule:"say,required" doc:"The sentence for the log and the caller." eg:"The model at the server has no template for tools."`
	Status int    `rule:"status" min:"400" max:"599" doc:"HTTP status for the caller; left out: as recovery.yaml says." eg:"503"`
}

// errorText is the text of an error and what the groups of a pattern find in it.
type errorText struct {
	Text  rulefile.Text                  `rule:"text,required" doc:"The text of an error." eg:"prompt of 9000 tokens is over the limit of 8192"`
	Gives []rulefile.Pair[rulefile.Text] `rule:"gives" doc:"What the groups of the pattern find in it." eg:"{prompt: '9000', limit: '8192'}"`
}
