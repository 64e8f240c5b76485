// Package harmony knows the tokens and headers of the Harmony format, however they are spelled, and where a
// JSON value ends in a text that grows. It reads no call and no arguments. Pure.
//
// Source of the format: https://github.com/openai/harmony.
package harmony
