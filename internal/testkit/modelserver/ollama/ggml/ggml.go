// Package ggml stands for Ollama's package of this name, which needs C. Only `ollama create` with another
// quantization calls it.
package ggml

import "github.com/ollama/ollama/fs/ggml"

// ConvertToF32 is never called.
func ConvertToF32([]byte, uint32, uint64) []float32 { panic("this build has no C") }

// Quantize is never called.
func Quantize(ggml.TensorType, []float32, []uint64) []byte { panic("this build has no C") }
