// Package parse reads a model's reply: deltas in, text, thoughts and calls out.
//
// One incremental reader serves streams and whole replies alike: a whole reply
// is a stream of one chunk, and every chunking of the same reply gives the same
// reading. It holds back only bytes that could still become markup or a call.
// A decision is taken when the bytes seen so far allow no other one, or at the
// end of the reply; that is what makes the reading independent of chunks.
//
// How a reply is read is data: a list of strategies, compiled once. Every
// reading carries its trace. The package is pure: no network, files, clock,
// logger or context, and it never runs anything.
package parse
