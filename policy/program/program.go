package program

// Of says what a program does with its arguments. Name is its name without a folder.
// For a program that is not in the table, Known is false, and only Flags and Operands
// are filled in.
func Of(name string, args []Word) Effect { return Effect{Operands: args} }
