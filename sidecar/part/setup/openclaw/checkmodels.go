package openclaw

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/internal/jsonc"
)

// harmful lists switches of compat that break the input of gpt-oss.
var harmful = []string{"strictMessageKeys", "requiresThinkingAsText", "requiresAssistantAfterToolResult"}

// models checks the models of a provider.
func (c *checker) models(place configPath, list *jsonc.Value, api *jsonc.Value) {
	if list == nil || list.Kind != jsonc.Array || len(list.Items) == 0 {
		c.add("models", Fail, place, "models is "+c.shown(list)+": the provider has none",
			"gpt-oss-executor openclaw prints them")
		return
	}
	for i := range list.Items {
		v, at := &list.Items[i], place.to(strconv.Itoa(i))
		id := v.Get("id")
		if id == nil || id.Kind != jsonc.String {
			c.add("models", Fail, at.to("id"), "id is "+c.shown(id), "an id that the sidecar knows: "+
				strings.Join(c.s.Serves, ", "))
			continue
		}
		c.when(slices.Contains(c.s.Serves, id.Text), Fail, "models", at.to("id"), "id is "+c.shown(id),
			"; the sidecar answers 404 to it", "one of "+strings.Join(c.s.Serves, ", "))
		c.window(at, v)
		c.when(v.Get("reasoning").Is(jsonc.Bool, "true"), Fail, "reasoning", at.to("reasoning"),
			"reasoning is "+c.shown(v.Get("reasoning")),
			": OpenClaw does not send the chain of thought back, and the model forgets between two calls what it was about", `"reasoning": true`)
		c.compat(at.to("compat"), v.Get("compat"), api)
	}
}

// window checks the numbers of tokens of a model.
func (c *checker) window(place configPath, model *jsonc.Value) {
	v := model.Get("contextWindow")
	n, known := v.Float()
	where, found := place.to("contextWindow"), "contextWindow is "+c.shown(v)
	want := c.s.window()
	fix := `"contextWindow": ` + strconv.Itoa(want)
	if want == 0 {
		fix = `"contextWindow": what the model server was started with`
	}
	switch {
	case !known:
		c.add("context_window", Warn, where,
			found+": OpenClaw guesses when the conversation must be made shorter", fix)
	case want > 0 && int(n) > want:
		c.add("context_window", Fail, where,
			fmt.Sprintf("%s, and the model server takes %d: OpenClaw shortens the conversation too late",
				found, want), fix)
	case n < LeastWindow:
		c.add("context_window", Fail, where, fmt.Sprintf("%s, and OpenClaw's own prompt needs %d, better %d",
			found, LeastWindow, 2*LeastWindow), "start the model server with a larger context")
	case want > 0 && int(n) < want:
		c.add("context_window", Warn, where,
			fmt.Sprintf("%s, and the model server takes %d: the rest lies idle", found, want), fix)
	default:
		c.add("context_window", OK, where, found, "")
	}
	tokens, set := model.Get("maxTokens").Float()
	if where = place.to("maxTokens"); known && (set || n > 0) {
		found = "maxTokens is " + c.shown(model.Get("maxTokens"))
		c.when(!set || tokens <= n/2, Warn, "max_tokens", where, found,
			": together with the prompt that must fit into the context window",
			fmt.Sprintf(`"maxTokens": %d at most`, int(n)/2))
	}
}

// compat checks how OpenClaw changes requests.
func (c *checker) compat(place configPath, v, api *jsonc.Value) {
	for _, key := range harmful {
		if v.Get(key).Is(jsonc.Bool, "true") {
			c.add("compat", Fail, place.to(key),
				key+" is true: it spoils calls, their results or the reasoning in what gpt-oss reads",
				strconv.Quote(key)+": false")
		}
	}
	if v.Get("supportsTools").Is(jsonc.Bool, "false") {
		c.add("compat", Fail, place.to("supportsTools"), "supportsTools is false: the model gets no tools",
			"leave supportsTools out")
	}
	if v.Get("supportsUsageInStreaming").Is(jsonc.Bool, "false") {
		c.add("compat", Warn, place.to("supportsUsageInStreaming"),
			"supportsUsageInStreaming is false: OpenClaw does not learn how full the context is",
			"leave supportsUsageInStreaming out")
	}
	session := "sendSessionIdHeader"
	if !api.Is(jsonc.String, apiNames["responses"]) {
		session = "sendSessionAffinityHeaders"
		field := v.Get("maxTokensField")
		c.when(field.Is(jsonc.String, "max_tokens"), Warn, "max_tokens_field", place.to("maxTokensField"),
			"maxTokensField is "+c.shown(field),
			": the limit is sent under a name that older model servers do not know",
			`"maxTokensField": "max_tokens"`)
		c.when(v.Get("supportsReasoningEffort").Is(jsonc.Bool, "true"), Warn, "reasoning_effort",
			place.to("supportsReasoningEffort"),
			"supportsReasoningEffort is "+c.shown(v.Get("supportsReasoningEffort")),
			": the thinking level of OpenClaw does not reach the model",
			`"supportsReasoningEffort": true, "supportedReasoningEfforts": ["low", "medium", "high"]`)
	}
	c.when(v.Get(session).Is(jsonc.Bool, "true"), Warn, "session", place.to(session),
		session+" is "+c.shown(v.Get(session)),
		": the sidecar cannot tell sessions apart, so that limits and experiments count them as one",
		strconv.Quote(session)+": true")
}
