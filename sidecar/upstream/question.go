package upstream

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/ruleset"
)

// exchange is a chat as it is sent.
//
// Where the model's raw text is wanted, the server is first asked for the prompt of the chat and then for
// its continuation, so that its own parser has no part in it.
type exchange struct {
	to     string
	body   []byte
	ollama bool                              // over Ollama's own API
	stream bool                              // that API gives a stream
	read   func(io.ReadCloser) io.ReadCloser // translates the reply into a chat completion; nil: it is one

	// next returns the exchange for what follows the prompt, which the answer holds at promptAt.
	next     func(prompt string) exchange
	promptAt string
}

// newExchange puts a chat into the server's form. A caller that reads streams gets one of Ollama: where it
// cannot parse a call, a whole reply lacks the thought and the text before it.
func (c *Client) newExchange(srv *ruleset.Server, chat []byte, streams bool) exchange {
	get := func(path string) gjson.Result { return gjson.GetBytes(chat, path) }
	f := srv.Unparsed
	own := srv.API == ruleset.OllamaAPI && time.Now().UnixNano() > c.completions.Load()
	switch {
	case own:
		whole := !get("stream").Bool()
		streams = streams && !get("logprobs").Bool() || !whole // a document keeps them
		read := func(begun string) func(io.ReadCloser) io.ReadCloser {
			return func(body io.ReadCloser) io.ReadCloser {
				usage := whole || get("stream_options.include_usage").Bool()
				return newOllamaReply(body, streams, usage, begun)
			}
		}
		asked := ollamaRequest(chat, streams)
		q := exchange{to: c.root + ollamaPath, body: asked, ollama: true, stream: streams, read: read("")}
		if f != nil {
			q.body, q.promptAt = renderRequest(asked), "_debug_info.rendered_template"
			q.next = func(prompt string) exchange {
				return exchange{to: c.root + ollamaPrompt, body: ollamaRaw(asked, prompt), ollama: true,
					stream: streams, read: read(f.Begun(prompt))}
			}
		}
		return q
	case f != nil && !constrained(chat):
		return exchange{to: c.root + "/apply-template", body: chat, promptAt: "prompt",
			next: func(prompt string) exchange {
				return exchange{to: c.base + "/completions", body: completion(chat, prompt, f),
					read: func(body io.ReadCloser) io.ReadCloser {
						return translateLines(body, (&textReply{f.Begun(prompt)}).line)
					}}
			}}
	}
	return exchange{to: c.base + "/chat/completions", body: chat}
}

// prompt returns the prompt in a response. A response without one is the reply and stays unread.
func (q *exchange) prompt(res *http.Response, limit int64) (prompt string, ok bool) {
	head := bufio.NewReader(io.LimitReader(res.Body, limit))
	line, _ := head.ReadBytes('\n') // what breaks off breaks off again for who reads the answer
	if p := gjson.GetBytes(line, q.promptAt); p.Type == gjson.String {
		return p.Str, true
	}
	res.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(line), head, res.Body), res.Body}
	return "", false
}

// constrained reports whether the server constrains the model as a chat asks, which a prompt would not.
func constrained(chat []byte) bool {
	choice := gjson.GetBytes(chat, "tool_choice")
	return gjson.GetBytes(chat, "response_format").IsObject() || choice.IsObject() || choice.Str == "required"
}

// chatMembers have no use in a text completion, or another meaning.
var chatMembers = []string{"messages", "tools", "tool_choice", "parallel_tool_calls", "response_format",
	"chat_template_kwargs", "reasoning_effort", "logprobs", "top_logprobs"}

// completion asks for what a model of a family writes after the prompt of a chat. Special tokens of the
// server are kept in the text.
func completion(chat []byte, prompt string, f *ruleset.Family) []byte {
	var out jsonObject
	gjson.ParseBytes(chat).ForEach(func(name, value gjson.Result) bool {
		if !slices.Contains(chatMembers, name.Str) {
			out.add(name.Str, value.Raw)
		}
		return true
	})
	out.add("prompt", string(openai.AppendString(nil, prompt)))
	if kept, err := json.Marshal(f.Marks); err == nil {
		out.add("preserved_tokens", string(kept))
	}
	return []byte(out.end())
}

// lineReader translates a body line by line.
type lineReader struct {
	io.Closer
	in        *bufio.Reader
	translate func(line []byte) []byte
	out       []byte // still to be read
	err       error
}

func translateLines(body io.ReadCloser, as func(line []byte) []byte) io.ReadCloser {
	return &lineReader{Closer: body, in: bufio.NewReader(body), translate: as}
}

func (r *lineReader) Read(p []byte) (int, error) {
	for len(r.out) == 0 && r.err == nil {
		var line []byte
		if line, r.err = r.in.ReadBytes('\n'); len(line) > 0 {
			r.out = r.translate(line)
		}
	}
	if len(r.out) == 0 {
		return 0, r.err
	}
	n := copy(p, r.out)
	r.out = r.out[n:]
	return n, nil
}

// textReply translates text completions into chat completions.
type textReply struct {
	prefix string // start of the reply that is part of the prompt, until it was read
}

// line translates a line of the reply.
func (r *textReply) line(line []byte) []byte {
	data, event := bytes.CutPrefix(line, []byte("data: "))
	text := gjson.GetBytes(data, "choices.0.text")
	if !text.Exists() {
		return line
	}
	var message jsonObject
	message.add("role", `"assistant"`)
	message.add("content", string(openai.AppendString(nil, r.prefix+text.Str)))
	r.prefix = ""
	path := "choices.0.message"
	if event {
		path = "choices.0.delta"
	}
	out, err := sjson.SetRawBytes(bytes.Clone(data), path, []byte(message.end()))
	if err != nil {
		return line
	}
	return append(line[:len(line)-len(data):len(line)-len(data)], out...)
}

// Obstacle keeps a server from answering until its operator changes something.
type Obstacle struct {
	Why string // for the caller
	Fix string // for the operator; may hold an address
}

func (o *Obstacle) Error() string { return o.Why }

// obstacleOf returns the obstacle behind an error; nil: none is known.
func obstacleOf(err error) *Obstacle {
	var known *Obstacle
	var authority x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	var cert *tls.CertificateVerificationError
	switch {
	case errors.As(err, &known):
		return known
	case speaksPlain(err):
		return &Obstacle{"it does not speak TLS, and its address begins with https",
			"let --upstream begin with http://"}
	case errors.As(err, &authority):
		return &Obstacle{"its certificate is signed by an authority that is not known here (x509)",
			"set SSL_CERT_FILE, in the environment of gpt-oss-executor, to a PEM file with the certificate of that authority"}
	case errors.As(err, &name):
		return &Obstacle{"its certificate is for another name (x509)",
			"let --upstream have the name of the certificate: " + name.Error()}
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return &Obstacle{"its certificate is out of date, or not valid yet (x509)",
			"renew the certificate, or set the clock"}
	case errors.As(err, &cert):
		return &Obstacle{"its certificate is not trusted (x509)", cert.Err.Error()}
	}
	return nil
}

// redirectObstacle returns the obstacle of a response that redirects; nil: it does not. Redirects are not
// followed: a GET would lose the body, and another host would get the key.
func redirectObstacle(req *http.Request, res *http.Response) *Obstacle {
	switch res.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect,
		http.StatusPermanentRedirect:
	default:
		return nil
	}
	o := &Obstacle{fmt.Sprintf("it redirects to another address (HTTP %d)", res.StatusCode),
		"set --upstream to the address to which it redirects"}
	to, err := res.Location()
	if err != nil {
		return o
	}
	if to.Scheme == "https" && req.URL.Scheme == "http" && to.Hostname() == req.URL.Hostname() {
		o.Why = fmt.Sprintf("it redirects to https (HTTP %d)", res.StatusCode)
	}
	bare := url.URL{Scheme: to.Scheme, Host: to.Host, Path: strings.TrimSuffix(to.Path, "/chat/completions")}
	bare.Path = strings.TrimSuffix(bare.Path, "/models")
	o.Fix = "it redirects to " + bare.String() + ": set --upstream to that"
	return o
}

// proxyObstacle returns the obstacle of a proxy that refuses a request.
func proxyObstacle(status int, scheme string) *Obstacle {
	name := strings.ToUpper(scheme) + "_PROXY"
	if status == http.StatusProxyAuthRequired {
		return &Obstacle{"the proxy of " + name + " wants a password (HTTP 407)",
			"write user and password into " + name +
				" (http://USER:PASSWORD@HOST:PORT), or the host of the model server into NO_PROXY"}
	}
	return &Obstacle{fmt.Sprintf("the proxy of %s does not connect (HTTP %d)", name, status),
		"write the host of the model server into NO_PROXY, or let the proxy connect"}
}

// checkConnect checks a proxy's response to CONNECT.
func checkConnect(_ context.Context, _ *url.URL, _ *http.Request, res *http.Response) error {
	if res.StatusCode == http.StatusOK {
		return nil
	}
	return proxyObstacle(res.StatusCode, "https")
}

// decompress makes the body of a response plain. None was asked to be compressed, but some proxies do so.
func decompress(res *http.Response) *Obstacle {
	var names []string
	for _, line := range res.Header.Values("Content-Encoding") {
		names = append(names, strings.Split(line, ",")...)
	}
	for _, name := range slices.Backward(names) {
		switch name = strings.ToLower(strings.TrimSpace(name)); name {
		case "", "identity":
			continue
		case "gzip", "x-gzip":
			res.Body = &compressedBody{ReadCloser: res.Body,
				open: func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }}
		case "deflate":
			res.Body = &compressedBody{ReadCloser: res.Body, open: inflate}
		default:
			return &Obstacle{fmt.Sprintf("its answer is compressed (%s), and only gzip and deflate are read",
				redact(name)),
				"turn compression off at the server, or at the proxy in front of it"}
		}
		res.Header.Del("Content-Length")
		res.ContentLength = -1
	}
	res.Header.Del("Content-Encoding")
	return nil
}

// compressedBody is a compressed body. It is opened on the first Read, since its header may come long after
// that of the response.
type compressedBody struct {
	io.ReadCloser
	open  func(io.Reader) (io.Reader, error)
	plain io.Reader // nil: not opened
}

func (p *compressedBody) Read(b []byte) (int, error) {
	if p.plain == nil {
		plain, err := p.open(p.ReadCloser)
		if err != nil {
			return 0, err
		}
		p.plain = plain
	}
	return p.plain.Read(b)
}

// inflate reads deflate as servers mean it: zlib, as the standard says, or without its header.
func inflate(r io.Reader) (io.Reader, error) {
	in := bufio.NewReader(r)
	head, err := in.Peek(2)
	if len(head) == 0 {
		return nil, err
	}
	if len(head) == 2 && head[0]&0x0f == 8 && (int(head[0])<<8|int(head[1]))%31 == 0 {
		return zlib.NewReader(in)
	}
	return flate.NewReader(in), nil
}
