package replicas

import (
	"context"
	"encoding/json"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/jgavinray/gpt-oss-executor/sidecar/approvals"
)

// keepBoard is how long questions stay that no replica reads.
const keepBoard = 24 * time.Hour

// lastField holds the id of the newest question. No id looks like it.
const lastField = "last"

// swapScript makes all changes of a hash or none. After the lifetime come, for each field, its expected and
// its new value; empty: none.
var swapScript = redis.NewScript(`
for i = 2, #ARGV, 3 do
	if (redis.call('HGET', KEYS[1], ARGV[i]) or '') ~= ARGV[i+1] then return 0 end
end
for i = 2, #ARGV, 3 do
	if ARGV[i+2] == '' then redis.call('HDEL', KEYS[1], ARGV[i])
	else redis.call('HSET', KEYS[1], ARGV[i], ARGV[i+2]) end
end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1`)

// storedEntry is an entry with its binding, as JSON may not keep every byte of a call.
type storedEntry struct {
	Entry   approvals.Entry   `json:"entry"`
	Binding approvals.Binding `json:"binding"`
}

// Board holds the questions to people.
type Board struct{ store *Store }

// Board returns the board of the store.
func (s *Store) Board() Board { return Board{s} }

// Read returns all questions that can be read here, and the id of the newest.
func (b Board) Read() (out []approvals.Posted, added string, err error) {
	key := b.store.key("approvals", "")
	var all map[string]string
	err = b.store.ask(context.Background(), askApprovals, b.store.Wait,
		func(ctx context.Context) (err error) {
			all, err = b.store.client.HGetAll(ctx, key).Result()
			return err
		})
	if err != nil {
		return nil, "", err
	}
	added = all[lastField]
	delete(all, lastField)
	for id, value := range all {
		var p storedEntry
		if text, ok := b.store.openValue(key+" "+id, value); ok && json.Unmarshal(text, &p) == nil &&
			p.Entry.ID == id {
			out = append(out, approvals.Posted{Entry: p.Entry, Binding: p.Binding, Mark: value})
		}
	}
	return out, added, nil
}

// Swap makes all changes or none.
func (b Board) Swap(list []approvals.Swap, added string) (done bool, err error) {
	key := b.store.key("approvals", "")
	args, newest := []any{keepBoard.Milliseconds()}, ""
	for _, c := range list {
		value := ""
		if c.Entry != nil {
			doc, err := json.Marshal(storedEntry{*c.Entry, c.Binding})
			if err != nil {
				return false, err
			}
			value = b.store.seal.close(key+" "+c.ID, doc)
		}
		if args = append(args, c.ID, c.Was, value); c.Was == "" {
			newest = c.ID
		}
	}
	if newest != "" {
		args = append(args, lastField, added, newest)
	}
	err = b.store.ask(context.Background(), askApprovals, b.store.Wait, func(ctx context.Context) error {
		n, err := swapScript.Run(ctx, b.store.client, []string{key}, args...).Int()
		done = n == 1
		return err
	})
	return done && err == nil, err
}
