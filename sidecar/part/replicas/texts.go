package replicas

import (
	"context"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/state"
)

const (
	// keepTexts is how long a thought or a note is kept: a session that was quiet for longer goes
	// on without them.
	keepTexts = 24 * time.Hour
	// maxFind is how many calls are looked for at once, the newest first.
	maxFind = 512
)

// kinds of texts, in the order in which they are asked for.
var kinds = [...]state.Kind{state.Thought, state.Note, state.Awaited}

// Texts are the thoughts behind calls, and the notes about them.
type Texts struct{ of *Store }

// Texts are those of the store.
func (s *Store) Texts() Texts { return Texts{s} }

// Keep has a text written soon.
func (t Texts) Keep(x state.Text) {
	key := t.of.key(string(x.Kind), x.Key)
	t.of.put(change{key: key, value: t.of.seal.close(key, []byte(x.Text)), keep: keepTexts})
}

// Find gives what is known of calls.
func (t Texts) Find(ctx context.Context, calls []string) (out []state.Text) {
	calls = calls[max(0, len(calls)-maxFind):]
	keys := make([]string, 0, len(kinds)*len(calls))
	for _, call := range calls {
		for _, kind := range kinds {
			keys = append(keys, t.of.key(string(kind), call))
		}
	}
	var found []any
	err := t.of.ask(ctx, askTexts, t.of.Wait, func(ctx context.Context) (err error) {
		found, err = t.of.client.MGet(ctx, keys...).Result()
		return err
	})
	if err != nil || len(found) != len(keys) {
		return nil // they are missed
	}
	for i, value := range found {
		if value, is := value.(string); is {
			if text, ok := t.of.read(keys[i], value); ok {
				out = append(out, state.Text{Kind: kinds[i%len(kinds)], Key: calls[i/len(kinds)],
					Text: string(text)})
			}
		}
	}
	return out
}
