package urls_test

import (
	"errors"
	"net/netip"
	"slices"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/policy/urls"
)

// record is one line of urls.jsonl.
type record struct {
	ID        string                `json:"id"`
	URL       string                `json:"url"`
	Method    string                `json:"method"`
	Resolve   map[string][][]string `json:"resolve"`
	Redirects []string              `json:"redirects"`
	Expect    struct {
		Acceptable []string `json:"acceptable"`
		Why        string   `json:"why"`
	} `json:"expect"`
}

// lookup gives every answer of the sequence, also those that a later lookup would get.
func (r record) lookup(host string) (addrs []netip.Addr, err error) {
	for _, answer := range r.Resolve[host] {
		for _, a := range answer {
			addrs = append(addrs, netip.MustParseAddr(a))
		}
	}
	if addrs == nil {
		return nil, errors.New("no such host")
	}
	return addrs, nil
}

// effect is what the shipped rules make of a use, in short.
func effect(u urls.Use) string {
	has := func(m string) bool { return slices.Contains(u.Marks, m) }
	switch {
	case u.Class != urls.Public, has(urls.MarkBlockedPort):
		return "deny"
	case u.Method != "GET" && u.Method != "HEAD", has(urls.MarkPort), has(urls.MarkDowngrade),
		has(urls.MarkLongQuery), has(urls.MarkLongLabel):
		return "ask"
	}
	return "allow"
}

func TestCorpus(t *testing.T) {
	for _, r := range testkit.Corpus[record](t, "urls") {
		got := "allow"
		uses := urls.Follow(r.URL, r.Method, r.Redirects, r.lookup)
		for _, u := range uses {
			if e := effect(u); e == "deny" || got == "allow" {
				got = e
			}
		}
		if !slices.Contains(r.Expect.Acceptable, got) {
			t.Errorf("%s: %s %.100q is %s, want one of %v (%s): %+v", r.ID, r.Method, r.URL, got,
				r.Expect.Acceptable, r.Expect.Why, uses)
		}
	}
}
