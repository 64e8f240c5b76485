package replicas

import (
	"context"
	"time"
)

// keepLeft is how long a call that has left may take until a gateway begins to run it, as long as a
// ticket of one that runs confined.
const keepLeft = 30 * time.Minute

// Departures are the calls that have left, so that each is known once at whichever replica a hook of
// the gateway asks.
type Departures struct{ of *Store }

// Departures are those of the store.
func (s *Store) Departures() Departures { return Departures{s} }

// Leave notes a call soon.
func (d Departures) Leave(call string) {
	key := d.of.key("left", call)
	d.of.put(change{key: key, value: d.of.seal.close(key, []byte("left")), keep: keepLeft})
}

// Take takes a note away. It reports whether there was one: to one replica, once.
func (d Departures) Take(call string) (taken, known bool) {
	key, value := d.of.key("left", call), ""
	err := d.of.ask(context.Background(), askLeft, d.of.Wait, func(ctx context.Context) (err error) {
		value, err = d.of.client.GetDel(ctx, key).Result()
		return err
	})
	if err == nil && value != "" {
		_, taken = d.of.read(key, value)
	}
	return taken, err == nil
}

// keepRates is as long as a rule can look back.
const keepRates = 25 * time.Hour

// Rates are what sessions did at each replica.
type Rates struct{ of *Store }

// Rates are those of the store.
func (s *Store) Rates() Rates { return Rates{s} }

// Publish replaces soon what is known of a session in this process. What the process before has told
// holds on: this one does not know it.
func (r Rates) Publish(session string, doc []byte) {
	key := r.of.key("rates", "session "+session)
	r.of.put(change{key: key, field: r.of.process, value: r.of.seal.close(key+" "+r.of.process, doc),
		keep: keepRates})
}

// Read gives what a session did at the other replicas.
func (r Rates) Read(session string) (out [][]byte) {
	key := r.of.key("rates", "session "+session)
	var all map[string]string
	err := r.of.ask(context.Background(), askRates, r.of.Wait, func(ctx context.Context) (err error) {
		all, err = r.of.client.HGetAll(ctx, key).Result()
		return err
	})
	if err != nil {
		return nil // a rate is that of this replica
	}
	for id, value := range all {
		if id == r.of.process {
			continue
		}
		if doc, ok := r.of.read(key+" "+id, value); ok {
			out = append(out, doc)
		}
	}
	return out
}
