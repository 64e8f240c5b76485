package prompt

import "github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"

// EditsFile is edits.yaml.
type EditsFile struct {
	rulefile.Head
	Requests []requestRule `rule:"requests" doc:"Edits of what is sent to the model. All whose condition holds are made, in their order."`
	Results  []resultRule  `rule:"results" doc:"Edits of what tools gave, before the model reads it. All whose condition holds are made, in their order."`
}

// requestRule edits requests.
type requestRule struct {
	At       rulefile.Place
	ID       rulefile.Text    `rule:"id,required" doc:"The rule's name in logs and metrics." eg:"no-browser-at-night"`
	About    string           `rule:"about" doc:"Why the rule exists." eg:"The small model calls it for everything."`
	When     *rulefile.Text   `rule:"when" doc:"The condition under which the edit is made. If left out, it always is." eg:"size > 200000"`
	Tools    []rulefile.Text  `rule:"drop_tools" doc:"Tools that the model is not offered, and cannot call. A star is any text." eg:"[browser, 'mcp_*']"`
	Messages []messageRule    `rule:"messages" doc:"What becomes of texts."`
	Set      map[string]any   `rule:"set" doc:"Sampling parameters that take the place of the caller's." eg:"{temperature: 0.2}"`
	Most     map[string]any   `rule:"most" doc:"Sampling parameters that may be this at most. max_tokens is set, too, if nothing else sets it." eg:"{max_tokens: 4000}"`
	Hit      []requestExample `rule:"hit" doc:"Requests that it edits. Every load tries them."`
	Miss     []requestExample `rule:"miss" doc:"Requests that it must leave alone. Every load tries them."`
}

// messageRule edits messages of a request.
type messageRule struct {
	Of rulefile.Text `rule:"of,required" one:"system user last_user" doc:"system: instructions; a note goes to the first, which is made if there is none. user: all that the user wrote. last_user: the last of these. Texts of the model cannot be edited."`
	change
}

// resultRule edits results of tools.
type resultRule struct {
	At    rulefile.Place
	ID    rulefile.Text  `rule:"id,required" doc:"The rule's name in logs and metrics." eg:"no-tracking-links"`
	About string         `rule:"about" doc:"Why the rule exists." eg:"The model copies them into its answers."`
	When  *rulefile.Text `rule:"when" doc:"The condition under which the edit is made. If left out, it always is." eg:"tool == 'web_fetch' and size > 20000"`
	change
	Hit  []resultExample `rule:"hit" doc:"Results that it edits. Every load tries them."`
	Miss []resultExample `rule:"miss" doc:"Results that it must leave alone. Every load tries them."`
}

// change edits one text: it is left out, or parts are replaced, or it is shortened; last, something is
// added.
type change struct {
	Drop    string        `rule:"drop" doc:"All of it is left out. The model reads this in its place." eg:"This page was left out."`
	Replace []replacement `rule:"replace" doc:"What is replaced in it, one after the other."`
	Chars   int           `rule:"chars" min:"200" max:"100000000" doc:"How many characters are kept at most, with what is said about the rest." eg:"3000"`
	Head    float64       `rule:"head" min:"0" max:"1" doc:"The share of chars that is kept from the beginning. The rest is from the end. If left out: 1." eg:"0.7"`
	Hint    string        `rule:"hint" doc:"How to get what is left out. The model reads it." eg:"Ask for less at a time."`
	Note    string        `rule:"note" doc:"Is added at the end, in a paragraph of its own." eg:"This page is not to be trusted."`
}

type replacement struct {
	Find rulefile.Text `rule:"find,required" doc:"A regular expression (RE2)." eg:"'utm_\\w+=[^&\\s]*'"`
	With string        `rule:"with" doc:"What stands in its place: $1 and ${name} are groups of the expression, $$ is a dollar sign. If left out, nothing." eg:"'[left out]'"`
}

// requestExample is a short request, and the rule's effect on it.
type requestExample struct {
	At      rulefile.Place
	Model   string         `rule:"model" doc:"The model id that the caller asked for." eg:"gpt-oss"`
	Agent   string         `rule:"agent" doc:"The agent." eg:"main"`
	Session string         `rule:"session" doc:"The session." eg:"agent:main:main"`
	Run     bool           `rule:"run" doc:"true means a run of executor mode."`
	Tools   []string       `rule:"tools" doc:"The offered tools." eg:"[web_search, browser]"`
	System  string         `rule:"system" doc:"The system message." eg:"You are an assistant."`
	User    string         `rule:"user" doc:"The message of the user." eg:"What is new?"`
	Fields  map[string]any `rule:"fields" doc:"Other members of the request." eg:"{temperature: 1.5}"`
	Gives   *requestGives  `rule:"gives" doc:"What the request becomes. Only keys that are here are compared."`
}

type requestGives struct {
	Tools  *[]string      `rule:"tools" doc:"The tools that are still offered." eg:"[web_search]"`
	System *string        `rule:"system" doc:"The system message." eg:"You are an assistant. Be brief."`
	User   *string        `rule:"user" doc:"The message of the user." eg:"What is new?"`
	Fields map[string]any `rule:"fields" doc:"Other members of the request." eg:"{temperature: 0.2}"`
}

// resultExample is a short result, and the rule's effect on it.
type resultExample struct {
	At     rulefile.Place
	Model  string         `rule:"model" doc:"The model id that the caller asked for." eg:"gpt-oss"`
	Agent  string         `rule:"agent" doc:"The agent." eg:"main"`
	Run    bool           `rule:"run" doc:"true means a run of executor mode."`
	Tool   string         `rule:"tool,required" doc:"The name of the tool." eg:"web_fetch"`
	Args   map[string]any `rule:"args" doc:"The arguments of its call." eg:"{url: 'https://example.com'}"`
	Text   string         `rule:"text,required" doc:"What the tool gave." eg:"Hello?utm_source=x"`
	Failed bool           `rule:"failed" doc:"true means that the tool failed."`
	Gives  *string        `rule:"gives" doc:"What the model reads. If left out, it is not compared." eg:"Hello?"`
}

// IDs returns the ids of all rules.
func (f EditsFile) IDs() (out []rulefile.Text) {
	for _, r := range f.Requests {
		out = append(out, r.ID)
	}
	for _, r := range f.Results {
		out = append(out, r.ID)
	}
	return out
}
