package ruleset

import (
	"maps"
	"net/url"
	"slices"

	"github.com/jgavinray/gpt-oss-executor/sidecar/prompt"
	"github.com/jgavinray/gpt-oss-executor/sidecar/rulefile"
)

// modelFile is models.yaml.
type modelFile struct {
	rulefile.Head
	Default   rulefile.Text                  `rule:"default" doc:"The id for requests that name no model, and for openclaw.json. If left out, it is the first of models." eg:"gpt-oss"`
	Upstreams []rulefile.Pair[rulefile.Text] `rule:"upstreams" doc:"Model servers beside the one of the settings: a name of your own, and the base URL. Logs, metrics and /readyz show the name." eg:"{far: http://gpu.lan:8000/v1}"`
	Models    []Model                        `rule:"models,required" doc:"The model ids that callers see."`
}

// Model is a model id that callers see, and what it stands for.
type Model struct {
	ID        rulefile.Text   `rule:"id,required" doc:"The name that the caller asks for." eg:"gpt-oss"`
	About     string          `rule:"about,required" doc:"What the model is for. Operators read it." eg:"Whatever gpt-oss model the server has."`
	Upstream  rulefile.Text   `rule:"upstream" doc:"The base URL of a model server of its own. That server never gets the key of the settings. If left out, it is the model server of the settings." eg:"http://127.0.0.1:8000/v1"`
	Upstreams []rulefile.Text `rule:"upstreams" doc:"Names of model servers, in the order in which they are tried: those under upstreams, and main, which is the one of the settings. If one fails, the next is asked, as long as nothing of an answer has come. It does not go with upstream." eg:"[main, far]"`
	Name      string          `rule:"name" doc:"The model's id at the model server. If left out, it is the listed model that the caller's id means. If none fits, the answer is 404." eg:"openai/gpt-oss-20b"`
	Mode      string          `rule:"mode,required" one:"provider executor either" doc:"provider returns calls to the caller, who runs them. executor runs tools of its own until there is an answer; those of the caller are not used. either: executor for requests without tools, provider for others. Where this program has no tools to run, all of them are provider."`
	Profile   rulefile.Text   `rule:"profile" doc:"A profile of strategies.yaml. If left out, it is default." eg:"native"`
	Family    rulefile.Text   `rule:"family" doc:"A file of families/, without .yaml: how the model writes replies. If left out, the name of the model at its server says it, or its chat template." eg:"qwen3"`
	Server    rulefile.Text   `rule:"server" doc:"A dialect of servers.yaml. If left out, the server is asked." eg:"vllm"`
	Style     rulefile.Text   `rule:"style" doc:"A style of strategies.yaml, for a server that cannot call tools; native if it can. If left out, choose in strategies.yaml says it." eg:"react"`
	Prompt    rulefile.Text   `rule:"prompt" doc:"A file of prompts/, without .txt or .tmpl. Its text is a system message in front of all others." eg:"native"`
	Images    bool            `rule:"images" doc:"true says that the model sees images. gpt-oss does not: a sentence stands in place of each."`
	Sampling  map[string]any  `rule:"sampling" doc:"Fields of the request that are set if the caller did not set them. Messages, tools, stream and n are none of them." eg:"{temperature: 1.0}"`
}

// The modes that differ from provider.
const (
	Executor = "executor"
	Either   = "either"
)

// models reads models.yaml, after the files that it refers to.
func (l *loader) models() {
	file := decodeFile[modelFile](l, modelsFile)
	l.set.Models = file.Models
	l.upstreams(file.Upstreams)
	l.defaultModel(file.Default)
	for _, m := range l.set.Models {
		l.checkShownID(m.ID)
		for _, name := range slices.Sorted(maps.Keys(m.Sampling)) {
			if wrong := prompt.Unfit(name, m.Sampling[name]); wrong != "" {
				l.reject(m.ID, "sampling of "+m.ID.Value+" cannot set "+name, wrong)
			}
		}
		if l.clean(strategiesFile) {
			l.checkOneOf(m.Profile, "profile", slices.Sorted(maps.Keys(l.set.profiles)))
			l.checkOneOf(m.Style, "style", append(slices.Sorted(maps.Keys(l.set.styles)), Native))
		}
		l.checkOneOf(m.Family, "family", mapSlice(l.set.Families, func(f *Family) string { return f.Name }))
		if l.clean(serversFile) {
			l.checkOneOf(m.Server, "server", serverIDs(l.set.Servers))
		}
		l.baseURL(m.Upstream)
		for _, name := range m.Upstreams {
			l.checkOneOf(name, "upstream", mapSlice(l.set.Upstreams,
				func(u Upstream) string { return u.Name }))
		}
		if l.checkUnique("upstream", m.Upstreams); m.Upstreams != nil {
			l.reject(m.Upstream, "upstream and upstreams cannot go together",
				"give the server a name under upstreams, above models")
		}
		l.checkOneOf(m.Prompt, "prompt", slices.Sorted(maps.Keys(l.set.Prompts)))
	}
	if l.files.Has(modelsFile) && len(l.set.Models) == 0 && l.clean(modelsFile) {
		l.reportFile(modelsFile, rulefile.CodeMissing, "there is no model, so callers can ask for nothing", "")
	}
}

// defaultModel moves the named model to the front.
func (l *loader) defaultModel(id rulefile.Text) {
	ids := mapSlice(l.set.Models, func(m Model) string { return m.ID.Value })
	if !id.At.Known() || !l.clean(modelsFile) || !l.checkOneOf(id, "model", ids) {
		return
	}
	at := slices.Index(ids, id.Value)
	l.set.Models = slices.Concat(l.set.Models[at:at+1], l.set.Models[:at], l.set.Models[at+1:])
}

// Main is the name of the model server of the settings.
const Main = "main"

// Upstream is a model server. URL is empty for that of the settings.
type Upstream struct{ Name, URL string } // the URL of the one of the settings is empty

// upstreams reads the model servers of models.yaml.
func (l *loader) upstreams(list []rulefile.Pair[rulefile.Text]) {
	l.set.Upstreams = []Upstream{{Name: Main}}
	for _, u := range list {
		if u.Key.Value == Main {
			l.reject(u.Key, Main+" is the model server of the settings",
				"choose another name")
		}
		l.checkID(u.Key)
		l.baseURL(u.Value)
		l.set.Upstreams = append(l.set.Upstreams, Upstream{u.Key.Value, u.Value.Value})
	}
	l.checkUnique("address", mapSlice(list,
		func(u rulefile.Pair[rulefile.Text]) rulefile.Text { return u.Value }))
}

// UpstreamsOf returns the servers of a model, in order. One that only the model names has no name.
func (s *Set) UpstreamsOf(m Model) []Upstream {
	if len(m.Upstreams) == 0 && m.Upstream.Value == "" {
		return []Upstream{{Name: Main}}
	} else if len(m.Upstreams) == 0 {
		return []Upstream{{URL: m.Upstream.Value}}
	}
	return mapSlice(m.Upstreams, func(t rulefile.Text) Upstream {
		return s.Upstreams[slices.IndexFunc(s.Upstreams, func(u Upstream) bool { return u.Name == t.Value })]
	})
}

// baseURL checks that a text is the address of a server.
func (l *loader) baseURL(t rulefile.Text) {
	u, err := url.Parse(t.Value)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		l.reject(t, "upstream is not a base URL",
			"write it like http://127.0.0.1:8000/v1")
	}
}

func serverIDs(servers []Server) []string {
	return mapSlice(servers, func(s Server) string { return s.ID.Value })
}
