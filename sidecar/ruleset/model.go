package ruleset

import (
	"maps"
	"net/url"
	"slices"
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
	Version int         `rule:"version,required" one:"1"`
	Models  []modelRule `rule:"models,required"`
}

type modelRule struct {
	At       place
	ID       text        `rule:"id,required"`
	About    string      `rule:"about,required"`
	Upstream *text       `rule:"upstream"`
	Name     string      `rule:"name"`
	Mode     string      `rule:"mode,required" one:"provider executor"`
	Profile  *text       `rule:"profile"`
	Server   *text       `rule:"server"`
	Prompt   *text       `rule:"prompt"`
	Sampling []pair[any] `rule:"sampling"`
}

// models takes models.yaml. It must come after what it refers to.
func (l *loader) models() {
	f := decodeFile[modelFile](l, modelsFile)
	var ids []text
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
		l.problems = append(l.problems, Problem{File: modelsFile, Code: codeMissing, Msg: "no model: callers could ask for nothing"})
	}
}

// baseURL reports whether a text is the address of a server.
func (l *loader) baseURL(t text) bool {
	u, err := url.Parse(t.Value)
	if err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https") {
		return true
	}
	l.problems = append(l.problems, t.all().problem(codeValue, "upstream is no base URL", "write it like http://127.0.0.1:8000/v1"))
	return false
}

func serverIDs(servers []Server) []string {
	out := make([]string, len(servers))
	for i := range servers {
		out[i] = servers[i].ID
	}
	return out
}
