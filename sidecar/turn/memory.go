package turn

import (
	"context"
	"crypto/sha256"
	"strings"

	"github.com/jgavinray/gpt-oss-executor/sidecar/openai"
	"github.com/jgavinray/gpt-oss-executor/sidecar/state"
	"github.com/jgavinray/gpt-oss-executor/sidecar/telemetry"
)

// memory are the texts that belong to the calls of one conversation. A call that left under an id of ours is
// known wherever it comes back, since no other call has that id: the session of a caller may have another
// name by then. A call whose id is the server's own, such as call0, is known in its conversation alone.
type memory struct {
	recall *state.Recall
	kind   state.Kind
	of     func() string // the conversation
}

// Get gives the text of a call.
func (m memory) Get(callID string) (string, bool) { return m.recall.Get(m.kind, m.key(callID)) }

func (m memory) put(callID, text string) {
	if callID != "" {
		m.recall.Put(m.kind, m.key(callID), text)
	}
}

func (m memory) take(callID string) (string, bool) { return m.recall.Take(m.kind, m.key(callID)) }

// fetch brings what other replicas know of the calls of a request.
func (m memory) fetch(ctx context.Context, req *openai.Request) {
	m.recall.Fetch(ctx, func() (keys []string) {
		for i := range req.Messages {
			msg := &req.Messages[i]
			for j := range msg.Calls {
				keys = append(keys, m.key(msg.Calls[j].ID))
			}
			if msg.Role == "tool" && msg.CallID != "" {
				keys = append(keys, m.key(msg.CallID))
			}
		}
		return keys
	})
}

func (m memory) key(callID string) string {
	id := openai.CleanCallID(callID)
	if openai.OwnCallID(id) {
		return id
	}
	return m.of() + "\x00" + id
}

// conversation tells one from another: by the session that the caller names, or else by how it begins, up to
// what the user says first, where OpenClaw tells its session, too. The key of a session, such as
// agent:main:main, is the same in each gateway.
func conversation(session string, req *openai.Request) string {
	if session != "" && !strings.HasPrefix(session, telemetry.TraceSession) {
		return "session " + session
	}
	sum := sha256.New()
	for i := range req.Messages {
		sum.Write(req.Messages[i].Of(req.Body))
		if req.Messages[i].Role == "user" {
			break
		}
	}
	return "begins " + string(sum.Sum(nil))
}
