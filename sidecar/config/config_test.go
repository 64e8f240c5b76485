package config

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// ofPart are the settings of a part.
type ofPart struct {
	Token string `rule:"part_token" is:"token" doc:"A token."`
	File  string `rule:"part_file" is:"FILE" doc:"A file."`
	Name  string `rule:"part_name" is:"NAME" doc:"A name."`
	Mode  string `rule:"part_mode" is:"MODE" one:"on off" doc:"A mode."`
}

// A value that is empty, or that a header cannot hold, stops the start wherever it comes from.
func TestRefused(t *testing.T) {
	empty := func(name string) (string, bool) { return "", name == "EMPTY" }
	for doc, want := range map[string]string{
		`token: ""`:               "c.yaml:1:8: token is empty; give it a value",
		`admin_token: "${EMPTY}"`: "admin_token is empty",
		`listen: ${EMPTY}`:        "listen is empty",
		`policy: " "`:             "policy is empty",
		`upstream: ${NONE}`:       "the environment variable NONE is not set",
		`log_level:`:              "log_level has no value",
		`token: a`:                "",
		`token: ${TOK:-abc}`:      "c.yaml:1:8: ${TOK:-abc} stands for no environment variable",
		`token: ${MY-TOK}`:        "${MY-TOK} stands for no environment variable",
		`token: "${ TOK }"`:       "write ${NAME}, with letters, digits and _ alone",
		`token: $TOK`:             "$TOK stands for no environment variable",
		`token: "a${TOK"`:         "${TOK stands for no environment variable",
		`token: ${}`:              "${} stands for no environment variable",
		`with_parent: true`:       "write on",
		`part_mode: false`:        "write off",
		`egress: on`:              "the setting `egress` belongs to the part confine, which this program was built without",
		`log_level: 3`:            "it is one of debug, info, warn, error",
		`drain: 5`:                "write it with its unit: 5s",
		`hosts: [a, b]`:           "with blanks between them: llm.example.com gpt.example.com",
		`hosts: "[a, b]"`:         "hosts is a list in quotes",
		`hosts: a, b`:             "",
		`part_name: 7`:            "write it in quotes: \"7\"",
		` `:                       "an empty file never takes effect",
		`token: $${TOK:-abc}`:     "",
		`token: pa$$word$`:        "",
	} {
		s := Settings{Parts: []any{&ofPart{}}}
		if got := s.Read("c.yaml", doc, empty).Error(); want == "" && got != "" ||
			!strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", doc, got, want)
		}
	}
	for pair, want := range map[string]string{
		"GPTOSS_EXECUTOR_LISTEN=":    "GPTOSS_EXECUTOR_LISTEN is empty",
		"GPTOSS_EXECUTOR_POLICY= ":   "GPTOSS_EXECUTOR_POLICY is empty",
		"GPTOSS_EXECUTOR_TOKEN=":     "GPTOSS_EXECUTOR_TOKEN is empty",
		"GPTOSS_EXECUTOR_CONFINE=on": "the setting `confine` belongs to the part confine, which",
		"GPTOSS_EXECUTOR_LISTN=x":    "did you mean GPTOSS_EXECUTOR_LISTEN?",
	} {
		if err := new(Settings).Override([]string{pair}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", pair, err, want)
		}
	}
	for _, text := range []string{"a\nb", "a\x00", "a\tb"} {
		s := Settings{Parts: []any{&ofPart{Token: text}}}
		if err := s.ReadSecrets(); err == nil ||
			!strings.Contains(err.Error(), "part_token has a line break") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Folders may begin with ~, secrets may stand in files, and what is around a secret is no part of it.
func TestSet(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Chdir(home)
	if err := os.WriteFile("key", []byte("of a file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	part := &ofPart{}
	s := Settings{Parts: []any{part}}
	err := s.Override([]string{
		"GPTOSS_EXECUTOR_STATE=~/state", "GPTOSS_EXECUTOR_DECISIONS=off", "GPTOSS_EXECUTOR_ERROR_LOG=~",
		"GPTOSS_EXECUTOR_RULES=~sam/rules", "GPTOSS_EXECUTOR_PART_FILE=~/ca.pem",
		"GPTOSS_EXECUTOR_TOKEN= of the environment\n", "GPTOSS_EXECUTOR_ADMIN_TOKEN=file:~/key",
		"GPTOSS_EXECUTOR_UPSTREAM_KEYS=http://a k\nhttp://b l\n", "GPTOSS_EXECUTOR_PART_NAME=~/no/path",
	})
	if err == nil {
		err = s.ReadSecrets()
	}
	want := Settings{State: home + "/state", Decisions: "off", ErrorLog: home, Rules: "~sam/rules",
		Token: "of the environment", AdminToken: "of a file", UpstreamKeys: "http://a k\nhttp://b l",
		Parts: s.Parts}
	if err != nil || !reflect.DeepEqual(s, want) ||
		*part != (ofPart{File: home + "/ca.pem", Name: "~/no/path"}) {
		t.Errorf("%v\n got %+v\nwant %+v", err, s, want)
	}
	wants := map[string][2]string{
		"state": {"here", filepath.Join(home, "here")}, "rules": {"builtin", "builtin"}, "decisions": {"off", "off"}, "token": {"file:key", "file:" + filepath.Join(home, "key")},
		"upstream_key": {"key", "key"}, "policy": {"/p", "/p"}, "workspace": {"~/w", home + "/w"}, "listen": {"a:1", "a:1"},
	}
	for _, f := range s.All() {
		if c, ok := wants[f.Key]; ok {
			if got, err := f.Whole(c[0]); got != c[1] || err != nil {
				t.Errorf("%s: %q is %q, %v, want %q", f.Key, c[0], got, err, c[1])
			}
		}
	}
}
