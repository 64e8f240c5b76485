package sidecar

import (
	"errors"
	"io"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/parse"
	"github.com/jgavinray/gpt-oss-executor/sidecar/upstream"
)

// takeRecovered reads a reply that came inside an error.
func (o *streamed) takeRecovered(reply *upstream.Reply) (parse.Reading, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	c := o.choice(0)
	recovered(c.reader, reply.Recovered)
	reading, _ := c.reader.Close("")
	if reading.Empty() && !reading.Denied() {
		return parse.Reading{}, reply.Failure
	}
	c.closed, c.reading = true, reading
	c.replay()
	return reading, nil
}

// takeWhole reads a reply that is one document although a stream was asked for.
func (o *streamed) takeWhole(reply *upstream.Reply) (parse.Reading, error) {
	doc, err := io.ReadAll(reply.Body)
	if err != nil {
		return parse.Reading{}, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	var whole openai.Completion
	if err := whole.Parse(doc); err != nil {
		return parse.Reading{}, errors.New("the upstream's answer is not JSON: " + err.Error())
	}
	if whole.Err.Present() {
		return parse.Reading{}, o.t.fault(doc)
	}
	for i := range whole.Choices {
		ch := &whole.Choices[i]
		c := o.choice(ch.Index)
		c.emit(c.reader.Feed(deltaOf(ch)))
		c.end(ch.Finish)
	}
	if whole.Usage.Present() {
		o.meant = whole.Usage.Of(doc)
	}
	return o.close(nil)
}
