package console

import (
	"net/url"
	"testing"
	"time"
)

// A filter in an address comes back as it was, whatever its words; a time is one or an error.
func FuzzSieve(f *testing.F) {
	f.Add("rm -rf &", "deny", "2h", "2026-01-31 09:30")
	f.Add("a=b;c", "<b>", "-2h", "9999999h")
	f.Add("", "default", "2026-13-41", "2026-01-31T09:30:00+02:00")
	now := time.Date(2026, 11, 26, 10, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, words, rule, from, to string) {
		c := sieveOf(url.Values{"q": {words}, "rule": {rule}, "from": {from}, "to": {to}})
		q, err := url.ParseQuery(c.Query())
		if err != nil || sieveOf(q) != c {
			t.Errorf("%+v became %+v, %v", c, sieveOf(q), err)
		}
		out, err := c.filter(now)
		if err == nil && (out.Since.IsZero() != (c.From == "") && from != "0001-01-01" ||
			c.Rule != out.Rule) {
			t.Errorf("%+v means %+v", c, out)
		}
	})
}

// A time is how long ago, or a day with or without a time, in the time of the server.
func TestMoment(t *testing.T) {
	now := time.Date(2026, 11, 26, 10, 0, 0, 0, time.FixedZone("", 3600))
	for text, want := range map[string]string{
		"": "0001-01-01T00:00:00Z", "2h": "2026-11-26T08:00:00+01:00", "90m": "2026-11-26T08:30:00+01:00",
		"2026-11-01": "2026-11-01T00:00:00+01:00", "2026-11-01 09:30": "2026-11-01T09:30:00+01:00",
		"2026-11-01T09:30": "2026-11-01T09:30:00+01:00", "2026-11-01 09:30:10": "2026-11-01T09:30:10+01:00",
		"2026-11-01T09:30:00Z": "2026-11-01T09:30:00Z",
	} {
		if got, err := parseMoment(text, now); err != nil || got.Format(time.RFC3339) != want {
			t.Errorf("%q: %s %v", text, got.Format(time.RFC3339), err)
		}
	}
	if f, err := (addressFilter{From: "2026-11-01", To: "2026-11-01"}).filter(now); err != nil ||
		f.Until.Sub(f.Since) != 24*time.Hour {
		t.Errorf("a day is %+v %v", f, err)
	}
	for _, text := range []string{"-2h", "2", "yesterday", "2026-11-31", "10:00", "2026-11-01 25:00"} {
		if got, err := parseMoment(text, now); err == nil {
			t.Errorf("%q is %s", text, got)
		}
	}
}
