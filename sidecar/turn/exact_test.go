package turn

import (
	"testing"

	"github.com/tidwall/gjson"
)

func TestRounded(t *testing.T) {
	for in, want := range map[string]string{
		`{"id":12345678901234567000}`:             "12345678901234567000", // of 12345678901234567890
		`{"a":[1,{"b":-1234567890123456800}]}`:    "-1234567890123456800",
		`{"id":1.2345678901234568e+22}`:           "1.2345678901234568e+22", // of 12345678901234567890123
		`{"id":12345678901234567890}`:             "",                       // as the model wrote it
		`{"id":9007199254740992}`:                 "",
		`{"id":"12345678901234567000","n":0.1}`:   "",
		`{"n":1e300,"m":123456789012345678.5e-1}`: "",
	} {
		if got := roundedInteger(gjson.Parse(in)); got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
}
