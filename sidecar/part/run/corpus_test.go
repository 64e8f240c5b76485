package run

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/jgavinray/gpt-oss-executor/internal/testkit"
	"github.com/jgavinray/gpt-oss-executor/internal/testkit/servers"
	"github.com/jgavinray/gpt-oss-executor/policy/urls"
)

var (
	errDeny = errors.New("deny")
	errAsk  = errors.New("ask")
)

// strict judges in short as the shipped rules do.
func strict(u urls.Use) error {
	has := func(m string) bool { return slices.Contains(u.Marks, m) }
	switch {
	case u.Class != urls.Public, has(urls.MarkBlockedPort):
		return errDeny
	case u.Method != http.MethodGet && u.Method != http.MethodHead, has(urls.MarkPort),
		has(urls.MarkDowngrade):
		return errAsk
	}
	return nil
}

// Every case of the corpus, with a real DNS server and real HTTP servers.
func TestCorpus(t *testing.T) {
	type record struct {
		ID        string                `json:"id"`
		URL       string                `json:"url"`
		Method    string                `json:"method"`
		Resolve   map[string][][]string `json:"resolve"`
		Redirects []string              `json:"redirects"`
		Expect    struct {
			Acceptable []string `json:"acceptable"`
		} `json:"expect"`
	}
	reached := 0
	for _, r := range testkit.Corpus[record](t, "urls") {
		var hop atomic.Int64
		_, resolver := servers.ServeNames(t, r.Resolve)
		w := servers.ServeHTTP(t, http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) {
			if n := int(hop.Add(1)); n <= len(r.Redirects) {
				out.Header().Set("Location", r.Redirects[n-1])
				out.WriteHeader(http.StatusFound)
			}
		}))
		c := &Client{Judge: strict, Resolver: resolver, TLS: w.TLS(), Connect: w.Connect}
		_, err := c.Do(context.Background(), Request{Method: r.Method, URL: r.URL})
		got := "allow"
		switch {
		case errors.Is(err, errDeny):
			got = "deny"
		case errors.Is(err, errAsk):
			got = "ask"
		case err != nil:
			t.Errorf("%s: %v", r.ID, err)
		}
		rebinds := slices.ContainsFunc(slices.Collect(maps.Values(r.Resolve)),
			func(answers [][]string) bool { return len(answers) > 1 })
		// a name that rebinds is fetched from where it was judged
		if !slices.Contains(r.Expect.Acceptable, got) && !rebinds {
			t.Errorf("%s %s is %s, want one of %v", r.ID, r.URL, got, r.Expect.Acceptable)
		}
		for _, to := range w.Seen() {
			reached++
			if urls.ClassOf(to.Addr()) != urls.Public {
				t.Errorf("%s: connected to %s", r.ID, to)
			}
		}
	}
	if reached < 10 {
		t.Errorf("only %d connections were made", reached)
	}
}
