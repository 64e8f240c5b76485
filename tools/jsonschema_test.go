package tools

import (
	"encoding/json"
	"fmt"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

const draft7 = `{"$schema":"http://json-schema.org/draft-07/schema#",`

// What is special about one keyword or one draft, or about how the library says it.
func TestFaults(t *testing.T) {
	const tree = `{"$defs":{"tree":{"$id":"T0","properties":{"sub":{"$ref":"T0"},"n":{"type":"integer"}}}},"$ref":"T0"}`
	for _, row := range []struct{ schema, value, want string }{
		{`{"type":["integer","null"]}`, `1.0`, ``},
		{`{"type":"integer"}`, `1.5`, ` type[] [] [integer]number`},
		{tree, `{"sub":{"sub":{"n":"x"}}}`, `sub/sub/n type[] [] [integer]string`},
		{`{"items":{"required":["a","b"]}}`, `[{},{"a":1,"b":2},{"b":1}]`, `0 required[a b] [] [];2 required[a] [] []`},
		{`{"additionalProperties":false,"patternProperties":{"^x":true}}`, `{"xa":1,"c":1,"b":1}`, ` additionalProperties[b c] [] []`},
		{`{"anyOf":[{"type":"string"},{"required":["a"]}]}`, `{}`, ` anyOf[] [] []`},
		{`{"allOf":[{"properties":{"a":{"const":1}}},{"required":["b"]}]}`, `{"a":2}`, ` required[b] [] [];a const[] [1] []`},
		{`{"properties":{"a":true},"unevaluatedProperties":false}`, `{"a":1,"b":1}`, `b [] [] []`},
		{`{"$ref":"#/$defs/loop","$defs":{"loop":{"$ref":"#/$defs/loop"}}}`, `1`, ` [] [] []`},
		{`{"minimum":1e-5000,"maximum":9}`, `1e99999999`, ` maximum[] [] []`},
		{`{"minimum":0}`, `-1e999999`, ` minimum[] [] []`},
		{`{"enum":[10e400]}`, `10E400`, ``},
		{`{"format":"date"}`, `"tomorrow"`, ``},
		{draft7 + `"format":"date"}`, `"tomorrow"`, ` format[] [] []`},
		{draft7 + `"items":[true],"additionalItems":false}`, `[1,2]`, ` additionalItems[] [] []`},
		{draft7 + `"$ref":"#/definitions/a","minimum":5,"definitions":{"a":{"type":"integer"}}}`, `1`, ``},
		{`{"$schema":"http://json-schema.org/draft-04/schema#","minimum":1,"exclusiveMinimum":true}`, `1`, ` exclusiveMinimum[] [] []`},
		{draft7 + `"$ref":"http://json-schema.org/draft-07/schema#"}`, `{"type":1}`, `type anyOf[] [] []`},
	} {
		s, err := CompileSchema([]byte(row.schema))
		if err != nil {
			t.Errorf("%s: %v", row.schema, err)
			continue
		}
		var words []string
		for _, f := range s.Faults(row.value) {
			words = append(words, fmt.Sprint(strings.Join(f.At, "/"), " ", f.Keyword, f.Names, f.Want, f.Types, f.Got))
		}
		slices.Sort(words)
		if got := strings.Join(words, ";"); got != row.want {
			t.Errorf("%s of %s:\n%s, want\n%s", row.schema, row.value, got, row.want)
		}
	}
}

// Nothing is compiled that is no schema, or that refers to what is not in it.
func TestNotCompiled(t *testing.T) {
	many := make([]string, mostParts)
	for _, schema := range []string{``, `{}{}`, `1`, `{"type":"words"}`, `{"required":"a"}`, `{"properties":{"a":[]}}`,
		`{"$ref":"#/$defs/none"}`, `{"$ref":"#none"}`, `{"items":[true]}`, `{"minLength":-1}`,
		`{"$ref":"https://example.com/schema"}`, `{"$schema":"https://example.com/mine"}`, `{"$ref":"file:///etc/passwd"}`,
		`{"enum":["` + strings.Join(many, `","`) + `"]}`, strings.Repeat(`{"not":`, 11_000) + `{}` + strings.Repeat(`}`, 11_000)} {
		if _, err := CompileSchema([]byte(schema)); err == nil {
			t.Errorf("compiled: %.100s", schema)
		}
	}
}

// A schema that refers to itself takes little time, and so does one as large or as deep as there may be.
func TestHostile(t *testing.T) {
	wide := strings.Builder{}
	for i := range mostParts/2 - 10 {
		fmt.Fprintf(&wide, `%q:{"type":"string"},`, strconv.Itoa(i))
	}
	deep := strings.Repeat(`{"not":`, deepest/2) + `true` + strings.Repeat(`}`, deepest/2)
	for _, schema := range []string{
		`{"$ref":"#"}`, `{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"anyOf":[{"$ref":"#/$defs/a"}]}},"$ref":"#/$defs/a"}`,
		`{"properties":{` + wide.String() + `"x":true}}`,
		`{"anyOf":[` + deep + strings.Repeat(`,`+deep, mostParts/deepest) + `]}`,
		`{"pattern":"(x+x+)+y","patternProperties":{"(x+x+)+y":true}}`,
	} {
		took := testkit.ProcessorTime(func() {
			s, err := CompileSchema([]byte(schema))
			if err != nil {
				t.Errorf("%.100s: %v", schema, err)
				return
			}
			s.Faults(`"` + strings.Repeat("x", 10_000) + `"`)
		})
		if took > 20*time.Second {
			t.Errorf("%.100s: %v", schema, took)
		}
	}
}

func FuzzFaults(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"$ref":"#"}},"required":["a"]}`, `{"a":{"a":1}}`)
	f.Add(draft7+`"items":[{"format":"date-time"}],"oneOf":[{"minItems":1},{"contains":{"const":1e3}}]}`,
		`["2026-01-02T03:04:60Z",1000]`)
	f.Add(`{"$id":"x","$anchor":"a","$dynamicRef":"#a","unevaluatedItems":{"format":"email"}}`,
		`[[1],"a@[::1]"]`)
	f.Fuzz(func(t *testing.T, schema, value string) {
		s, err := CompileSchema([]byte(schema))
		if err != nil || !json.Valid([]byte(value)) {
			return
		}
		if faults := s.Faults(value); s.Accepts(value) != (len(faults) == 0) {
			t.Errorf("%s of %s: %v", schema, value, faults)
		}
	})
}
