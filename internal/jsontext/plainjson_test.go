package jsontext

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
)

// Record is embedded below: what is read into a part of it is named without it.
type Record struct {
	Tools []json.RawMessage `json:"tools"`
	Input *struct {
		Text *string `json:"text"`
	} `json:"input"`
}

func TestError(t *testing.T) {
	var to struct {
		Record
		Files map[string]string `json:"files"`
		Dry   bool              `json:"dry"`
		Now   time.Time         `json:"now"`
	}
	for doc, want := range map[string]string{
		`[]`:                    "this is a list, and an object is needed",
		`{"tools":5}`:           "tools is a number, and a list is needed",
		`{"files":{"a":5}}`:     "files is a number, and a text is needed",
		`{"input":"x"}`:         "input is a text, and an object is needed",
		`{"dry":"x"}`:           "dry is a text, and true or false is needed",
		`{"input":{"text":{}}}`: "input.text is an object, and a text is needed",
		`{"now":"noon"}`:        "noon is no time: write it as 2026-01-05T12:00:00Z",
		`{`:                     "unexpected end of JSON input",
	} {
		err := Error(json.Unmarshal([]byte(doc), &to))
		if err == nil || !strings.HasPrefix(err.Error(), want[:strings.IndexByte(want, ' ')]) ||
			!strings.HasSuffix(err.Error(), want[strings.IndexByte(want, ' '):]) {
			t.Errorf("%s: %v, want %s", doc, err, want)
		}
		if err != nil && strings.ContainsAny(err.Error(), "[]*") {
			t.Errorf("%s: %v", doc, err)
		}
	}
	if other := errors.New("x"); Error(other) != other {
		t.Error("another error has changed")
	}
}
