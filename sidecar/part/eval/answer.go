package eval

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/replay"
)

// answer is the part of an answer that has been read.
type answer struct {
	begun              bool // it has a choice
	content, reasoning strings.Builder
	calls              []replay.MadeCall
	indices            []int // of the calls
	finish             string
}

// readAnswer reads an answer: a document, or a stream of events.
func readAnswer(body []byte, stream bool) (replay.Made, error) {
	var a answer
	read := a.add
	if stream {
		read = a.stream
	}
	if err := read(body); err != nil {
		return replay.Made{}, fmt.Errorf("read the answer: %w", err)
	}
	if !a.begun {
		return replay.Made{}, errors.New("the answer has no choice")
	}
	return replay.Made{Calls: a.calls, Content: a.content.String(), Reasoning: a.reasoning.String(),
		Finish: a.finish}, nil
}

// stream reads all events. A stream without [DONE] is incomplete.
func (a *answer) stream(body []byte) error {
	events := openai.NewEventReader(bytes.NewReader(body), len(body), len(body))
	defer events.Close()
	for {
		data, err := events.Next()
		switch {
		case errors.Is(err, io.EOF):
			return errors.New("the stream broke off")
		case err != nil:
			return err
		case openai.IsDone(data):
			return nil
		}
		if err := a.add(data); err != nil {
			return err
		}
	}
}

// add adds a document or a chunk.
func (a *answer) add(doc []byte) error {
	var c openai.Completion
	if err := c.Parse(doc); err != nil {
		return err
	}
	if fault, is := openai.ReadFault(doc); is {
		return errors.New(fault.Message)
	}
	for i := range c.Choices {
		ch := &c.Choices[i]
		if ch.Index != 0 {
			continue
		}
		a.begun = true
		a.content.WriteString(ch.Content.Text)
		a.reasoning.WriteString(ch.Reasoning.Text)
		a.finish = cmp.Or(ch.Finish, a.finish)
		for k := range ch.Calls {
			a.call(&ch.Calls[k])
		}
	}
	return nil
}

// call adds a call or a piece of one.
func (a *answer) call(part *openai.CallPart) {
	at := slices.Index(a.indices, part.Index)
	if at < 0 {
		at = len(a.calls)
		a.indices, a.calls = append(a.indices, part.Index), append(a.calls, replay.MadeCall{})
	}
	c := &a.calls[at]
	c.Name += part.Name
	c.Arguments = append(c.Arguments, part.Arguments...)
}
