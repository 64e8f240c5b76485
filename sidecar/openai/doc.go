// Package openai reads and writes chat completion requests, replies and event streams in the forms of OpenAI,
// OpenClaw and the gpt-oss servers. It reads the few members that matter in place, and changes a document
// only by splices, so that unknown members survive untouched. It never opens a connection, logs, retries or
// decides what a reply means.
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
