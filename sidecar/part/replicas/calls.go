package replicas

import (
	"context"
	"time"

	"github.com/jgavinray/gpt-oss-executor/sidecar/state"
)

// keepLeft is how long a gateway may take to run a call that has left, like a ticket of a confined call.
const keepLeft = 30 * time.Minute

// Departures are the calls that have left, known to the first replica that a gateway's hook asks.
type Departures struct{ store *Store }

// Departures returns the departures of the store.
func (s *Store) Departures() Departures { return Departures{s} }

// Leave records a call soon.
func (d Departures) Leave(call string) {
	key := d.store.key("left", call)
	d.store.put(write{key: key, value: d.store.seal.close(key, []byte("left")), keep: keepLeft})
}

// Take removes a record and reports whether there was one: for one replica, once.
func (d Departures) Take(call string) (taken, known bool) {
	key, value := d.store.key("left", call), ""
	err := d.store.ask(context.Background(), askLeft, d.store.Wait, func(ctx context.Context) (err error) {
		value, err = d.store.client.GetDel(ctx, key).Result()
		return err
	})
	if err == nil && value != "" {
		_, taken = d.store.openValue(key, value)
	}
	return taken, err == nil
}

// keepRates is how far a rule can look back.
const keepRates = 25 * time.Hour

// Rates are what sessions did at each replica.
type Rates struct{ store *Store }

// Rates returns the rates of the store.
func (s *Store) Rates() Rates { return Rates{s} }

// Publish replaces soon what a session did in this process. What an earlier process has told stays, as this
// one does not know it.
func (r Rates) Publish(session string, doc []byte) {
	key := r.store.key("rates", "session "+session)
	r.store.put(write{key: key, field: r.store.process,
		value: r.store.seal.close(key+" "+r.store.process, doc),
		keep:  keepRates})
}

// Read returns what a session did at other replicas.
func (r Rates) Read(session string) (out [][]byte) {
	key := r.store.key("rates", "session "+session)
	var all map[string]string
	err := r.store.ask(context.Background(), askRates, r.store.Wait, func(ctx context.Context) (err error) {
		all, err = r.store.client.HGetAll(ctx, key).Result()
		return err
	})
	if err != nil {
		return nil // a rate is that of this replica
	}
	for id, value := range all {
		if id == r.store.process {
			continue
		}
		if doc, ok := r.store.openValue(key+" "+id, value); ok {
			out = append(out, doc)
		}
	}
	return out
}

const (
	// keepTexts is how long a thought or a note is kept: a session that is silent for longer goes on
	// without.
	keepTexts = 24 * time.Hour
	// maxFind bounds the calls looked up at once, newest first.
	maxFind = 512
)

// textKinds is the order in which texts are looked up.
var textKinds = [...]state.Kind{state.Thought, state.Note, state.Awaited}

// Texts are the thoughts behind calls and the notes about them.
type Texts struct{ store *Store }

// Texts returns the texts of the store.
func (s *Store) Texts() Texts { return Texts{s} }

// Keep writes a text soon.
func (t Texts) Keep(x state.Text) {
	key := t.store.key(string(x.Kind), x.Key)
	t.store.put(write{key: key, value: t.store.seal.close(key, []byte(x.Text)), keep: keepTexts})
}

// Find returns what is known of calls.
func (t Texts) Find(ctx context.Context, calls []string) (out []state.Text) {
	calls = calls[max(0, len(calls)-maxFind):]
	keys := make([]string, 0, len(textKinds)*len(calls))
	for _, call := range calls {
		for _, kind := range textKinds {
			keys = append(keys, t.store.key(string(kind), call))
		}
	}
	var found []any
	err := t.store.ask(ctx, askTexts, t.store.Wait, func(ctx context.Context) (err error) {
		found, err = t.store.client.MGet(ctx, keys...).Result()
		return err
	})
	if err != nil || len(found) != len(keys) {
		return nil // they are missed
	}
	for i, value := range found {
		if value, is := value.(string); is {
			if text, ok := t.store.openValue(keys[i], value); ok {
				out = append(out, state.Text{Kind: textKinds[i%len(textKinds)], Key: calls[i/len(textKinds)],
					Text: string(text)})
			}
		}
	}
	return out
}
