// Package llama stands for Ollama's package of this name, which needs C. Ollama's own engine, which serves
// gpt-oss, calls none of it but SchemaToGrammar, and the script of a test follows no grammar.
package llama

import "errors"

var errNoC = errors.New("this build has no C")

// Model would be a model that llama.cpp loads.
type Model struct{}

// ModelParams say how it is loaded.
type ModelParams struct{ VocabOnly bool }

// LoadModelFromFile loads none.
func LoadModelFromFile(string, ModelParams) (*Model, error) { return nil, errNoC }

// FreeModel frees none.
func FreeModel(*Model) {}

// SchemaToGrammar is a grammar that shows only that there is one.
func SchemaToGrammar([]byte) []byte { return []byte(`root ::= "schema"`) }

// Tokenize fails.
func (*Model) Tokenize(string, bool, bool) ([]int, error) { return nil, errNoC }

// TokenToPiece knows no token.
func (*Model) TokenToPiece(int) string { return "" }
