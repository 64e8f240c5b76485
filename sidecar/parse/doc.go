// Package parse reads a model's reply: deltas in; text, thoughts and calls out.
//
// One incremental reader serves streams and whole replies: a whole reply is a stream of one chunk, and
// every chunking of a reply gives the same reading. The reader holds back only bytes that could still
// become markup or a call, and decides when the bytes seen so far allow no other decision, or at the end
// of the reply.
//
// Strategies, compiled once, describe how a reply is read. Every reading carries its trace. The package
// is pure: no network, files, clock, logger or context, and it never runs anything.
package parse
