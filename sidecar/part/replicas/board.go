package replicas

import (
	"context"
	"encoding/json"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/jgavinray/gpt-oss-executor/sidecar/approvals"
)

// keepBoard is how long questions stay that no replica looks at any more.
const keepBoard = 24 * time.Hour

// last is the field with the id of the question that was added last. No id looks like it.
const last = "last"

// swap makes all changes of a hash or none: behind its lifetime stand, for each field, what it holds
// and what it shall hold, both empty for nothing.
var swap = redis.NewScript(`
for i = 2, #ARGV, 3 do
	if (redis.call('HGET', KEYS[1], ARGV[i]) or '') ~= ARGV[i+1] then return 0 end
end
for i = 2, #ARGV, 3 do
	if ARGV[i+2] == '' then redis.call('HDEL', KEYS[1], ARGV[i])
	else redis.call('HSET', KEYS[1], ARGV[i], ARGV[i+2]) end
end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1`)

// posted is an entry as it is kept. JSON may not keep every byte of a call, so its binding is kept, too.
type posted struct {
	Entry   approvals.Entry   `json:"entry"`
	Binding approvals.Binding `json:"binding"`
}

// Board is where the questions to a person stand.
type Board struct{ of *Store }

// Board is that of the store.
func (s *Store) Board() Board { return Board{s} }

// Read gives all of them that can be read here, and which was added last.
func (b Board) Read() (out []approvals.Posted, added string, err error) {
	key := b.of.key("approvals", "")
	var all map[string]string
	err = b.of.ask(context.Background(), askApprovals, b.of.Wait, func(ctx context.Context) (err error) {
		all, err = b.of.client.HGetAll(ctx, key).Result()
		return err
	})
	if err != nil {
		return nil, "", err
	}
	added = all[last]
	delete(all, last)
	for id, value := range all {
		var p posted
		if text, ok := b.of.read(key+" "+id, value); ok && json.Unmarshal(text, &p) == nil &&
			p.Entry.ID == id {
			out = append(out, approvals.Posted{Entry: p.Entry, Binding: p.Binding, Mark: value})
		}
	}
	return out, added, nil
}

// Swap makes all changes or none.
func (b Board) Swap(list []approvals.Swap, added string) (done bool, err error) {
	key := b.of.key("approvals", "")
	args, newest := []any{keepBoard.Milliseconds()}, ""
	for _, c := range list {
		value := ""
		if c.Entry != nil {
			doc, err := json.Marshal(posted{*c.Entry, c.Binding})
			if err != nil {
				return false, err
			}
			value = b.of.seal.close(key+" "+c.ID, doc)
		}
		if args = append(args, c.ID, c.Was, value); c.Was == "" {
			newest = c.ID
		}
	}
	if newest != "" {
		args = append(args, last, added, newest)
	}
	err = b.of.ask(context.Background(), askApprovals, b.of.Wait, func(ctx context.Context) error {
		n, err := swap.Run(ctx, b.of.client, []string{key}, args...).Int()
		done = n == 1
		return err
	})
	return done && err == nil, err
}
