package program

import (
	_ "embed" // of the words
	"maps"
	"slices"
	"strings"
	"sync"
)

// wordList holds all words of rows with their sentences.
//
//go:embed words.txt
var wordList string

// vocabulary is the words of rows by list: kinds, effects, marks, which stand among the effects, and prints,
// the kinds of output.
var vocabulary = sync.OnceValue(func() map[string]map[string]string {
	lists, list := map[string]map[string]string{}, ""
	for line := range strings.Lines(wordList) {
		switch word, sentence, _ := strings.Cut(strings.TrimSpace(line), " "); {
		case word == "" || word == "#":
		case line[0] != '\t':
			list, lists[word] = word, map[string]string{}
		default:
			lists[list][word] = sentence
		}
	}
	return lists
})

// Words returns the words of a list with a sentence for each.
func Words(list string) map[string]string { return maps.Clone(vocabulary()[list]) }

// is reports whether a word is in a list.
func is(list, word string) bool { return vocabulary()[list][word] != "" }

// styles returns the ways to write options other than the usual one.
func styles() []string { return []string{"bundle", "first", "operands", "words"} }

// sorted returns the words of lists.
func sorted(lists ...string) (words []string) {
	for _, list := range lists {
		words = append(words, slices.Sorted(maps.Keys(vocabulary()[list]))...)
	}
	return words
}
