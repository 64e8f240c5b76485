package jsonrepair

import (
	"errors"
	"strings"
	"testing"
)

// repairs are damaged texts, what they mean, and the kinds of change made.
var repairs = []struct{ text, want, kinds string }{
	// Commas and colons.
	{`{"a":1,}`, `{"a":1}`, "comma"},
	{`{,"a":1}`, `{"a":1}`, "comma"},
	{`{"a":1,,"b":2}`, `{"a":1,"b":2}`, "comma"},
	{`{"a":1 "b":2}`, `{"a":1,"b":2}`, "comma"},
	{`{"a":"x" "b":"y"}`, `{"a":"x","b":"y"}`, "comma"},
	{"{\"a\":\"x\"\n\"b\":true\nc:3}", `{"a":"x","b":true,"c":3}`, "comma comma quote"},
	{`{"a":["x" "y" 2 {"b":1}]}`, `{"a":["x","y",2,{"b":1}]}`, "comma comma comma"},
	{`{"path" "x.txt", "n" 2}`, `{"path":"x.txt","n":2}`, "colon colon"},
	{`{"a"="x","c"::2, b => 1}`, `{"a":"x","c":2,"b":1}`, "colon colon quote colon"},
	{`{"a":}`, `{"a":null}`, "value"},
	{`{"n=7","q":"x"}`, `{"n=7":null,"q":"x"}`, "value"},

	// Closers.
	{`{"a":"x"]}`, `{"a":"x"}`, "closer"},
	{`{"a":"x"}]`, `{"a":"x"}`, "closer"},
	{`{"a":"x"]`, `{"a":"x"}`, "closer"},
	{`{"a":[1,2}`, `{"a":[1,2]}`, "closer"},
	{`{"a":[1,2},"b":3}`, `{"a":[1,2],"b":3}`, "closer closer"},
	{`{"a":{"b":1],"c":2}`, `{"a":{"b":1},"c":2}`, "closer"},
	{`[{"a":1,{"a":2}]`, `[{"a":1},{"a":2}]`, "closer"},
	{`{{"a":1}}`, `{"a":1}`, "closer closer"},
	{`{"a":1}, "b":2}`, `{"a":1,"b":2}`, "closer"},
	{`{"a":1}}}]`, `{"a":1}`, "closer"},

	// Quotes.
	{`{a: 1, $b-c: x y}`, `{"a":1,"$b-c":"x y"}`, "quote quote quote"},
	{`{'a': 'it's ok', 'b': 'x'}`, `{"a":"it's ok","b":"x"}`, "quote quote quote quote"},
	{`{“a”: ‘x’}`, `{"a":"x"}`, "quote quote"},
	{`{'a": 1}`, `{"a":1}`, "quote"},
	{`{"a": "x", text": "y"}`, `{"a":"x","text":"y"}`, "quote"},
	{`{"a": "one, b: "two"}`, `{"a":"one","b":"two"}`, "quote quote"},
	{`{"a": "one, two, "b": 3}`, `{"a":"one, two","b":3}`, "quote"},
	{`{"a": "one, b": 3}`, `{"a":"one","b":3}`, "quote quote"},
	{`{"a:"x"}`, `{"a":"x"}`, "quote"},
	{`{"a": x", "n": 12"}`, `{"a":"x","n":12}`, "quote quote quote"},
	{`{"a":"x","}`, `{"a":"x"}`, "comma quote"},
	{`{"a":{"b":1}"}`, `{"a":{"b":1}}`, "quote"},
	{`{"a":""/b c","d":1}`, `{"a":"/b c","d":1}`, "quote"},
	{`{""a"":""x y""}`, `{"a":"x y"}`, "quote quote quote quote"},
	{`{"a":"""say "x"."""}`, `{"a":"say \"x\"."}`, "quote escape escape quote"},
	{`{cmd: echo "x, y", b: 1}`, `{"cmd":"echo \"x, y\"","b":1}`, "quote quote escape escape quote"},

	// What was never escaped, and what cannot be seen.
	{`{"a":"\b", "b":"\s"}`, `{"a":"\b","b":"\\s"}`, "escape"},
	{"\u2068{\"a\"\u200e: \"x\"\x00}\u2069", `{"a":"x"}`, "space space space space"},

	// Quotes inside of strings.
	{`{"a":"say "x" now","b":1}`, `{"a":"say \"x\" now","b":1}`, "escape escape"},
	{`{"a":"say "x", then y","b":1}`, `{"a":"say \"x\", then y","b":1}`, "escape escape"},
	{`{"a":"if (x == "b") { y = "c" }","k":1}`, `{"a":"if (x == \"b\") { y = \"c\" }","k":1}`, "escape escape escape escape"},
	{`{"a":"use ["x", "y"]","k":1}`, `{"a":"use [\"x\", \"y\"]","k":1}`, "escape escape escape escape"},
	{`{"a":"{"k":"v","n":2}","b":1}`, `{"a":"{\"k\":\"v\",\"n\":2}","b":1}`, "escape escape escape escape escape escape"},
	{`{"a":"curl -d '{"k":1,"l":"v"}' x","b":1}`, `{"a":"curl -d '{\"k\":1,\"l\":\"v\"}' x","b":1}`, "escape escape escape escape escape escape"},
	{"{\"a\":\"x = {\n\"k\":[1]\n}\n\",\"b\":1}", `{"a":"x = {\n\"k\":[1]\n}\n","b":1}`, "escape escape escape escape escape"},
	{`{"a":"he said: "no", and: "so"","b":1}`, `{"a":"he said: \"no\", and: \"so\"","b":1}`, "escape escape escape escape"},

	// Escapes and control characters.
	{"{\"a\":\"x\ny\tz\x01\"}", `{"a":"x\ny\tz\u0001"}`, "escape escape escape"},
	{`{"a":"it\'s \d+ \$x"}`, `{"a":"it's \\d+ \\$x"}`, "escape escape escape"},
	{`{"a":"C:\Users\new\b.txt","b":"x\n\_"}`, `{"a":"C:\\Users\\new\\b.txt","b":"x\n\\_"}`, "escape escape escape escape"},
	{"{\"a\":\"ls \\\n -l\"}", `{"a":"ls \\\n -l"}`, "escape escape"},
	{`{\"a\": \"x\\ny\"}`, `{"a":"x\ny"}`, "escape"},

	// Literals and numbers.
	{`{"a":True,"b":None,"c":undefined,"d":NaN}`, `{"a":true,"b":null,"c":null,"d":null}`, "literal literal literal literal"},
	{`{"a":.5,"b":-.5,"c":5.,"d":2e-,"e":+3}`, `{"a":0.5,"b":-0.5,"c":5.0,"d":2e-0,"e":3}`, "number number number number number"},
	{`{"zip":01234,"v":1.2.3,"d":10-20}`, `{"zip":"01234","v":"1.2.3","d":"10-20"}`, "number number number"},
	{`{"n":12345678901234567890,}`, `{"n":12345678901234567890}`, "comma"},
	{`{"n":1,234}`, `{"n":"1,234"}`, "number"},

	// What stands around and between.
	{`{"a":1, // one` + "\n" + `"b":2 /* two */}`, `{"a":1,"b":2}`, "comment comment"},
	{`{"u":"https://x/y","v":"a // b /* c",}`, `{"u":"https://x/y","v":"a // b /* c"}`, "comma"},
	{`{"a":[1,2,...],...}`, `{"a":[1,2]}`, "comma ellipsis comma ellipsis"},
	{"```json\n{\"a\":\"x\",}\n```", `{"a":"x"}`, "fence comma fence"},
	{"Here:\n```json\n{\"a\": 1}\n```\nDone.", `{"a":1}`, "prose fence"},
	{`Call {x} with {"a":1} now`, `{"a":1}`, "prose prose"},
	{`run({"a":1});`, `{"a":1}`, "wrapper wrapper"},
	{`{"id":ObjectId("x1")}`, `{"id":"x1"}`, "wrapper wrapper"},
	{`{"a":"x"+"y" + 'z'}`, `{"a":"xyz"}`, "concat concat quote"},
	{"{\"a\":\u00a0\"x\"}", `{"a":"x"}`, "space"},
	{`{"a":1, NOTE "b":2}`, `{"a":1,"b":2}`, "prose"},
	{`{"a":json {"b":1}}`, `{"a":{"b":1}}`, "prose"},
	{`{"a":彩票{"b":1},"c":code: {}}`, `{"a":{"b":1},"c":{}}`, "prose prose"},
	{`{"a":"x","}`, `{"a":"x"}`, "comma quote"},
	{"{\"a\":1}\n{\"a\":2}", `[{"a":1},{"a":2}]`, "sequence"},
}

func TestRepair(t *testing.T) {
	for _, r := range repairs {
		got, err := Repair(r.text, 0)
		if err != nil {
			t.Errorf("%s: %v", r.text, err)
			continue
		}
		var kinds []string
		for _, c := range got.Changes {
			kinds = append(kinds, strings.TrimPrefix(c.Kind, "json."))
		}
		if string(got.JSON) != r.want || strings.Join(kinds, " ") != r.kinds || got.Cut != Whole {
			t.Errorf("%s\n got %s  (%s, cut %d)\nwant %s  (%s)", r.text, got.JSON, strings.Join(kinds, " "),
				got.Cut, r.want, r.kinds)
		}
		checkRecords(t, r.text, got)
	}
}

// What may have meant another value is in doubt.
func TestRepairDoubts(t *testing.T) {
	for _, r := range []struct {
		text, want string
		unsure     bool
	}{
		{`{\"a\": \"b\\n\"}`, `{"a":"b\n"}`, false},
		{`{\u0022a\u0022: \u0022b\n\u0022}`, `{"a":"b\n"}`, false}, // only quotation marks are
		{`{\x22a\x22: \x22b "c"\x22}`, `{"a":"b \"c\""}`, true},
		// only the first mark is escaped
		{`{\"command": "printf 'a\\nb' > f"}`, `{"command":"printf 'a\\nb' > f"}`, false},
		{`{\"a\": \"b\", "c": "d\\ne"}`, `{"a":"b","c":"d\ne"}`, true}, // some are
		{`{"filter":"{"filter":"a"}`, `{"filter":"a"}`, false},
	} {
		got, err := Repair(r.text, 0)
		if err != nil || string(got.JSON) != r.want || got.Unsure != r.unsure {
			t.Errorf("%s: %s, unsure %v, %v", r.text, got.JSON, got.Unsure, err)
		}
	}
}

// cuts are texts that end too early, and how much their end cut off.
var cuts = []struct {
	text, want string
	cut        Cut
}{
	{`{"a":"x"`, `{"a":"x"}`, Closers},
	{`{"a":{"b":[1,2]`, `{"a":{"b":[1,2]}}`, Closers},
	{`{"a":"x","b":{"c":true`, `{"a":"x","b":{"c":true}}`, Closers},
	{"{\"a\":\"x\"\n```", `{"a":"x"}`, Closers},
	{`{"a":{"b":1]`, `{"a":{"b":1}}`, Closers},
	{`{"a":["x"]]`, `{"a":["x"]}`, Whole}, // the wrong closer stands for the right one

	{`{"a":"x`, `{"a":"x"}`, Unended},
	{`{"a":"x}`, `{"a":"x"}`, Unquoted},
	{`{"a":"x{id}`, `{"a":"x{id}"}`, Unended},      // the text opened that brace
	{`{"a":"say "x"`, `{"a":"say \"x"}`, MidValue}, // an inner quote, or the end?
	{`{"a":"one, b: 1}`, `{"a":"one","b":1}`, Unquoted},
	{`{"a":["x, y]}`, `{"a":["x","y"]}`, Unquoted},
	{`{"a":"x\`, `{"a":"x"}`, MidValue},
	{`{"a":"x\u00`, `{"a":"x"}`, MidValue},
	{`{"a":12`, `{"a":12}`, MidValue}, // of 123
	{`{"a":tru`, `{"a":"tru"}`, MidValue},
	{`{"a":`, `{"a":null}`, MidValue},
	{`{"a"`, `{"a":null}`, MidValue},
	{`{"a`, `{"a":null}`, MidValue},
	{`{"`, `{}`, MidValue},
	{`{`, `{}`, MidValue},
	{`{"a":1,`, `{"a":1}`, MidValue},
	{`{"a":[`, `{"a":[]}`, MidValue},
	{`{"a":1 // , "b":2}`, `{"a":1}`, MidValue},
	{`{"a":"x","b":"y, "c":"z"}`, `{"a":"x","b":"y","c":"z"}`, Whole}, // what follows is evidence
}

func TestRepairCut(t *testing.T) {
	for _, c := range cuts {
		got, err := Repair(c.text, 0)
		if err != nil || string(got.JSON) != c.want || got.Cut != c.cut {
			t.Errorf("%s: got %s, cut %d, %v; want %s, cut %d", c.text, got.JSON, got.Cut, err, c.want, c.cut)
		}
	}
}

func TestRepairKeepsValid(t *testing.T) {
	for _, text := range []string{
		`{"a":1,"a":2}`, `{ "a" : [ ] }`, `{"p":"C:\temp\new"}`, `{"m":"\/x\u00e9"}`, `"x"`, `-0.5e+3`,
		`null`,
		`{"n":12345678901234567890,"c":"// no comment","q":"\"\""}`, "{\"bad\":\"\xff\"}",
	} {
		got, err := Repair(" \n"+text+"\r\n\t", 0)
		if err != nil || string(got.JSON) != text || got.Total != 0 || got.Cut != Whole {
			t.Errorf("%s: got %s, %+v, %v", text, got.JSON, got.Changes, err)
		}
	}
}

func TestRepairErrors(t *testing.T) {
	for _, c := range []struct {
		text  string
		depth int
		want  string
	}{
		{"", 0, "byte 0: no JSON value"},
		{" \n", 0, "byte 2: no JSON value"},
		{"}", 0, "byte 0: no JSON value"},
		{`{:1}`, 0, "byte 1: a key was expected, not :"},
		{`{"a":["x"], ["y"]}`, 0, "byte 12: a key was expected, not ["},
		{`{"a":1}{"a":2}`, 0, "byte 7: a second value follows the first"},
		{`{"a":1} x "y"}`, 0, "byte 8: the object goes on after its end"},
		{`[[[1]]]`, 2, "byte 2: nested deeper than 2"},
		{strings.Repeat(`{"a":`, 300), 0, "byte 1280: nested deeper than 256"},
	} {
		got, err := Repair(c.text, c.depth)
		var je *Error
		if !errors.As(err, &je) || err.Error() != c.want || got.JSON != nil {
			t.Errorf("%.20s: got %s, %v; want %s", c.text, got.JSON, err, c.want)
		}
	}
}

// Records show at most 80 bytes a side, and are capped while changes are counted.
func TestRepairRecordsAreBounded(t *testing.T) {
	text := `{a: ` + strings.Repeat("é", 60) + `, b: "` + strings.Repeat("\n", 100) + `"}`
	got, err := Repair(text, 0)
	if err != nil || got.Total != 103 || len(got.Changes) != MaxChanges {
		t.Fatalf("%d records of %d changes, %v", len(got.Changes), got.Total, err)
	}
	if from := got.Changes[1].From; from != strings.Repeat("é", 40) {
		t.Errorf("shown as %q", from)
	}
}
