#include "textflag.h"

// func clone(flags, stack, function uintptr, b *childState, who uintptr) (pidOrErrno int)
TEXT ·clone(SB), NOSPLIT, $0-48
	MOVQ flags+0(FP), DI
	MOVQ stack+8(FP), SI
	MOVQ function+16(FP), R9
	MOVQ b+24(FP), R12
	MOVQ who+32(FP), R13
	XORL DX, DX
	XORL R10, R10
	XORL R8, R8
	MOVL $56, AX // clone
	SYSCALL
	TESTQ AX, AX
	JZ   new
	MOVQ AX, pidOrErrno+40(FP)
	RET

new: // on the new stack, with arguments where Go functions take them
	XORL  BP, BP
	XORPS X15, X15
	MOVQ  R12, AX
	MOVQ  R13, BX
	CALL  R9
	INT   $3

// func syscall6(nr, a1, a2, a3, a4, a5, a6 uintptr) int
TEXT ·syscall6(SB), NOSPLIT, $0-64
	MOVQ nr+0(FP), AX
	MOVQ a1+8(FP), DI
	MOVQ a2+16(FP), SI
	MOVQ a3+24(FP), DX
	MOVQ a4+32(FP), R10
	MOVQ a5+40(FP), R8
	MOVQ a6+48(FP), R9
	SYSCALL
	MOVQ AX, ret+56(FP)
	RET
