// Package openai is the wire: chat completion requests, replies and event
// streams as OpenAI, OpenClaw and the gpt-oss servers write them. It reads the
// few fields that matter where they stand in the bytes, and changes a document
// only by splices, so that every field it does not know survives untouched. It
// never opens a connection, logs, retries or decides what a reply means.
//
//	JSON      Span, Edit, Apply · Members, Elements · Remove, Set, Insert · Text, AppendString
//	request   ParseRequest → Request{Messages, Tools, …} · Request.Field, FieldKey, Set, Text
//	reply     Completion.Parse → Choices · Completion.Edits, ReasoningEdits
//	          UsageFromTimings · ReadFault → Fault
//	events    NewEventReader → Next, Raw, Fails, Buffered, Close · IsDone
//	stream    NewStream → Started, Raw, Delta, KeepAlive, Finish, Usage, Error, Done, Flush
//	errors    Error → Body, Respond · InvalidRequest, Unauthorized, ModelNotFound, TooLarge, Overflow,
//	          RateLimited, UpstreamUnreachable, UpstreamAway, UpstreamAuth, UpstreamFailed, UpstreamTimeout,
//	          Overloaded, Refused, Internal
//	call ids  NewCallID, CleanCallID
package openai
