//go:build linux

package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"time"
)

const (
	soakCallers = 64
	soakSession = 25   // turns of one session
	soakGrowth  = 1.08 // of the second half over the first
)

// kindMark precedes the kind of reply that a request wants.
const kindMark = "Reply with "

// soakKinds are kinds of replies, with their share of a hundred turns.
var soakKinds = []struct {
	name   string
	of     int
	stream bool
	reply  *reply
}{
	{"text", 36, true, textStream(16, 0)},
	{"document", 20, false, textReply(1<<10, 0)},
	{"calls", 14, true, callStream(512)},
	{"call", 10, false, callReply(1 << 10)},
	{"damage", 8, false, damagedReply(`{'path': 'notes.md', 'content': 'a @ b',}`)},
	{"written", 6, true, writtenStream()},
	{"leaving", 4, true, textStream(16, 20*time.Millisecond)},
	{"breaking", 2, true, breakingStream()},
}

// damagedReply is a call with invalid JSON.
func damagedReply(arguments string) *reply {
	r := whole(head+`"content":null,`+call(arguments)+","+tail, "tool_calls")
	r.musts = append(r.musts, `"name":"write"`, `\"path\":\"notes.md\"`)
	return r
}

// writtenStream is a call as text in Harmony tokens.
func writtenStream() *reply {
	text := `<|channel|>commentary to=functions.write <|constrain|>json<|message|>{"path":"notes.md","content":"a"}<|call|>`
	var deltas []string
	for text != "" {
		n := min(12, len(text))
		deltas = append(deltas, `"content":`+quoted(text[:n]))
		text = text[n:]
	}
	r := stream("stop", deltas)
	r.marks, r.musts = 0, []string{`"name":"write"`, `"finish_reason":"tool_calls"`, "[DONE]"}
	return r
}

// breakingStream ends before the stream is complete.
func breakingStream() *reply {
	r := textStream(8, 0)
	r.events, r.breaks, r.musts = r.events[:6], true, nil
	r.marks = bytes.Count(bytes.Join(r.events, nil), []byte(mark))
	return r
}

// soaked is one sample of the process.
type soaked struct {
	at                               time.Duration
	turns                            int64
	rss, live, goroutines, openFiles float64
}

// soak runs callers with all kinds of turns for span, and samples the process. The error says which figure
// is larger in the second half than in the first, without its start.
func (b *bench) soak(ctx context.Context, span time.Duration) error {
	kinds := map[string]*reply{}
	for _, k := range soakKinds {
		kinds[k.name] = k.reply
	}
	b.model.reply.Store(&reply{kinds: kinds})
	b.flags = []string{"--admin", "127.0.0.1:0", "--decisions", "off", "--log-level", "error"}
	b.environ = []string{"GOMEMLIMIT=2GiB"} // without it the process does not report its live heap
	p, err := b.start(ctx, sidecar, false)
	if err != nil {
		return err
	}
	defer p.end()
	began, l := time.Now(), &load{}
	for n := range soakCallers {
		l.callers.Go(func() { l.soaking(p, rand.New(rand.NewPCG(uint64(n), 1))) })
	}
	var looks []soaked
	fmt.Print("| minute | turns | a second | RSS | live | goroutines | files |\n|---:|---:|---:|---:|---:|---:|---:|\n")
	for every := max(span/30, time.Second); time.Since(began) < span && l.wrong.Load() == nil &&
		ctx.Err() == nil; {
		pause(ctx, every)
		s := soaked{time.Since(began), l.answers.Load(), resident(p.pid),
			readMetric(p.address, "gptoss_executor_memory_in_use_bytes") / (1 << 20),
			readMetric(p.address, "go_goroutines"), descriptors(p.pid)}
		looks = append(looks, s)
		fmt.Printf("| %.1f | %d | %.0f | %.1f MB | %.1f MB | %.0f | %.0f |\n", s.at.Minutes(), s.turns,
			float64(s.turns)/s.at.Seconds(), s.rss, s.live, s.goroutines, s.openFiles)
	}
	if err := l.end(); err != nil {
		return err
	}
	pause(ctx, 3*time.Second)
	fmt.Printf("\nAll callers have left: %.0f goroutines, %.0f files, %.1f MB.\n",
		readMetric(p.address, "go_goroutines"), descriptors(p.pid), resident(p.pid))
	return grown(os.Stdout, looks)
}

// grown compares the halves.
func grown(w io.Writer, looks []soaked) error {
	if len(looks) < 5 {
		return errors.New("this took too short a time to compare anything")
	}
	looks = looks[len(looks)/5:]
	first, second := looks[:len(looks)/2], looks[len(looks)/2:]
	var all error
	for _, f := range []struct {
		name string
		of   func(soaked) float64
	}{
		{"RSS", func(s soaked) float64 { return s.rss }},
		{"live memory", func(s soaked) float64 { return s.live }},
		{"goroutines", func(s soaked) float64 { return s.goroutines }},
		{"files", func(s soaked) float64 { return s.openFiles }},
	} {
		middle := func(of []soaked) float64 {
			var values []float64
			for _, s := range of {
				values = append(values, f.of(s))
			}
			return median(values)
		}
		a, b := middle(first), middle(second)
		fmt.Fprintf(w, "%s: %.1f in the first half, %.1f in the second, %+.1f %%\n", f.name, a, b,
			100*(b/a-1))
		if b > a*soakGrowth {
			all = errors.Join(all, fmt.Errorf("%s has grown: %.1f in the first half, %.1f in the second",
				f.name, a, b))
		}
	}
	return all
}

// soaking is one caller, with turns of all kinds in consecutive sessions.
func (l *load) soaking(p *process, dice *rand.Rand) {
	var c *caller
	session, remaining := "", 0
	for !l.stopped.Load() {
		if c == nil {
			var err error
			if c, err = dial(p.address, true); err != nil {
				l.fail(err)
				return
			}
		}
		if remaining--; remaining <= 0 {
			session, remaining = strconv.FormatUint(dice.Uint64(), 36), soakSession
		}
		kind := dice.IntN(100)
		k := soakKinds[0]
		for _, k = range soakKinds {
			if kind -= k.of; kind < 0 {
				break
			}
		}
		c.request = soakRequest(p.address, session, k.name, k.stream, dice)
		var err error
		if k.name == "leaving" {
			time.AfterFunc(time.Duration(dice.IntN(200))*time.Millisecond,
				func(conn interface{ Close() error }) func() { return func() { conn.Close() } }(c.conn))
			_ = c.ask()
			c = nil
		} else if err = c.ask(); err == nil {
			err = k.reply.check(c.body.Bytes())
		}
		if err != nil {
			l.fail(fmt.Errorf("%s: %w", k.name, err))
			return
		}
		l.answers.Add(1)
	}
	if c != nil {
		c.conn.Close()
	}
}

// soakRequest returns a unique turn of a session.
func soakRequest(address, session, kind string, stream bool, dice *rand.Rand) []byte {
	body := fmt.Appendf(nil,
		`{"model":"gpt-oss","stream":%v,"messages":[{"role":"system","content":"You are careful. %s"},{"role":"user","content":"%s%s, number %d."}],"tools":[`+soakTool+`]}`,
		stream, strings.Repeat("Mind the folder. ", dice.IntN(100)), kindMark, kind, dice.Uint64())
	return fmt.Appendf(nil, "POST /v1/chat/completions HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nsession_id: %s\r\nContent-Length: %d\r\n\r\n%s", address, session, len(body), body)
}

const soakTool = `{"type":"function","function":{"name":"write","parameters":{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"]}}}`

// kind returns the reply that a request wants.
func (r *reply) kind(request []byte) *reply {
	if r.kinds == nil {
		return r
	}
	_, behind, _ := bytes.Cut(request, []byte(kindMark))
	name, _, _ := bytes.Cut(behind, []byte(","))
	return cmp.Or(r.kinds[string(name)], r.kinds[soakKinds[0].name])
}
