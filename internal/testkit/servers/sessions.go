package servers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
)

// Sessions plays callers of a Prompted model behind a base URL, four at once, from a number up to another:
// each asks to read its number, runs the call that comes, and asks again.
func Sessions(ctx context.Context, base string, from, to int) error {
	errs := make([]error, 4)
	var all sync.WaitGroup
	for w := range errs {
		all.Go(func() {
			for n := from + w; n < to && errs[w] == nil; n += len(errs) {
				if err := session(ctx, base, n); err != nil {
					errs[w] = fmt.Errorf("session %d: %w", n, err)
				}
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

func session(ctx context.Context, base string, n int) error {
	type object = map[string]any
	messages := []any{object{"role": "user", "content": fmt.Sprintf("Please read number %d.", n)}}
	offered := []any{object{"type": "function", "function": object{"name": "read",
		"parameters": object{"type": "object", "properties": object{"path": object{"type": "string"}}}}}}
	for range 2 {
		body, err := json.Marshal(object{"model": "gpt-oss", "messages": messages, "tools": offered})
		if err != nil {
			return err
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/chat/completions",
			bytes.NewReader(body))
		if err != nil {
			return err
		}
		req.Header.Set("session_id", fmt.Sprint("session ", n))
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return err
		}
		doc, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		var answer struct {
			Choices []struct{ Message json.RawMessage }
		}
		if err != nil || json.Unmarshal(doc, &answer) != nil || len(answer.Choices) != 1 {
			return fmt.Errorf("status %d: %s", res.StatusCode, doc)
		}
		var message struct {
			Calls []struct{ ID string } `json:"tool_calls"`
		}
		if err := json.Unmarshal(answer.Choices[0].Message, &message); err != nil || len(message.Calls) == 0 {
			return err
		}
		result := "The text."
		if bytes.Contains(doc, []byte(GoneMD)) {
			result = "Error: no such file"
		}
		messages = append(messages, answer.Choices[0].Message,
			object{"role": "tool", "tool_call_id": message.Calls[0].ID, "content": result})
	}
	return nil
}
