package ruleset

import (
	"maps"
	"net/url"
	"slices"

	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// Model is a model id that callers see, and what stands behind it.
type Model struct {
	ID       string         // what the caller asks for
	About    string         // for GET /v1/models and the operator
	Upstream string         // base URL of a model server of its own; empty: the one of the settings
	Name     string         // id at the upstream; empty: the caller's id if listed there, else its first
	Mode     string         // provider or executor
	Profile  string         // of strategies.yaml
	Server   string         // id of the dialect; empty: detected
	Prompt   string         // name of a file in prompts/; empty: none is added
	Sampling map[string]any // set where the caller did not: JSON values
	Place    string         // file:line
}

// modelFile is models.yaml.
type modelFile struct {
	Version int         `rule:"version,required" one:"1" doc:"The version of the format of this file."`
	Models  []modelRule `rule:"models,required" doc:"The model ids that callers see. The first is the default."`
}

type modelRule struct {
	At       rulefile.Place
	ID       rulefile.Text        `rule:"id,required" doc:"What the caller asks for." eg:"gpt-oss"`
	About    string               `rule:"about,required" doc:"What it is for, shown to operators." eg:"Whatever gpt-oss model the server has."`
	Upstream *rulefile.Text       `rule:"upstream" doc:"Base URL of a model server of its own, which never gets the key of the other; left out: the one of the settings." eg:"http://127.0.0.1:8000/v1"`
	Name     string               `rule:"name" doc:"The id at the model server. Left out: the listed model that the caller's id means; if none fits, the answer is 404." eg:"openai/gpt-oss-20b"`
	Mode     string               `rule:"mode,required" one:"provider executor" doc:"provider: calls go back to the caller, who runs them. executor is the same so far."`
	Profile  *rulefile.Text       `rule:"profile" doc:"A profile of strategies.yaml; left out: default." eg:"native"`
	Server   *rulefile.Text       `rule:"server" doc:"A dialect of servers.yaml; left out: found by asking." eg:"vllm"`
	Prompt   *rulefile.Text       `rule:"prompt" doc:"A file of prompts/, without .txt: a system message that is put in front." eg:"react"`
	Sampling []rulefile.Pair[any] `rule:"sampling" doc:"Fields of the request that are set where the caller did not." eg:"{temperature: 1.0}"`
}

// models takes models.yaml. It must come after what it refers to.
func (l *loader) models() {
	f := decodeFile[modelFile](l, modelsFile)
	var ids []rulefile.Text
	for _, r := range f.Models {
		ids = append(ids, r.ID)
		m := Model{
			ID: r.ID.Value, About: r.About, Name: r.Name, Mode: r.Mode,
			Profile: DefaultProfile, Place: r.At.String(), Sampling: map[string]any{},
		}
		if r.Profile != nil && (!l.clean(strategiesFile) || l.known(*r.Profile, "profile", slices.Sorted(maps.Keys(l.set.profiles)))) {
			m.Profile = r.Profile.Value
		}
		if r.Server != nil && (!l.clean(serversFile) || l.known(*r.Server, "server", serverIDs(l.set.Servers))) {
			m.Server = r.Server.Value
		}
		if r.Upstream != nil && l.baseURL(*r.Upstream) {
			m.Upstream = r.Upstream.Value
		}
		if r.Prompt != nil && l.known(*r.Prompt, "prompt", slices.Sorted(maps.Keys(l.set.Prompts))) {
			m.Prompt = r.Prompt.Value
		}
		for _, s := range r.Sampling {
			m.Sampling[s.Key.Value] = s.Value
		}
		l.set.Models = append(l.set.Models, m)
	}
	l.unique("id", ids)
	if _, ok := l.files[modelsFile]; ok && len(f.Models) == 0 && l.clean(modelsFile) {
		l.problems = append(l.problems, rulefile.Problem{File: modelsFile, Code: rulefile.CodeMissing, Msg: "no model: callers could ask for nothing"})
	}
}

// baseURL reports whether a text is the address of a server.
func (l *loader) baseURL(t rulefile.Text) bool {
	u, err := url.Parse(t.Value)
	if err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https") {
		return true
	}
	l.report(t.All(), rulefile.CodeValue, "upstream is no base URL", "write it like http://127.0.0.1:8000/v1")
	return false
}

func serverIDs(servers []Server) []string {
	return collect(servers, func(s Server) string { return s.ID })
}
