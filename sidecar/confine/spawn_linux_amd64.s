#include "textflag.h"

// func clone(flags, stack uintptr, b *brood, who uintptr) (pidOrErrno int)
TEXT ·clone(SB), NOSPLIT, $0-40
	MOVQ flags+0(FP), DI
	MOVQ stack+8(FP), SI
	MOVQ b+16(FP), R12
	MOVQ who+24(FP), R13
	XORL DX, DX
	XORL R10, R10
	XORL R8, R8
	MOVL $56, AX // clone
	SYSCALL
	TESTQ AX, AX
	JZ   new
	MOVQ AX, pidOrErrno+32(FP)
	RET

new: // on the new stack
	XORL BP, BP
	MOVQ SP, AX
	MOVQ R12, 0(AX)
	MOVQ R13, 8(AX)
	LEAQ ·born(SB), AX // the linker takes a direct call for endless recursion
	CALL AX
	INT  $3
