/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The few words that both compilers know: these headers are built for BPF and for the host. */
#ifndef STILE_BPF_COMPILER_H
#define STILE_BPF_COMPILER_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

#undef __always_inline /* <linux/stddef.h> leaves it to the compiler's mood */
#define __always_inline inline __attribute__((always_inline))

/* Network order to the host's, and back. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define swap16(value) __builtin_bswap16(value)
#define swap32(value) __builtin_bswap32(value)
#define swap64(value) __builtin_bswap64(value)
#else
#define swap16(value) (value)
#define swap32(value) (value)
#define swap64(value) (value)
#endif

#define load_once(place) (*(const volatile __typeof__(place) *)&(place))
#define store_once(place, value) (*(volatile __typeof__(place) *)&(place) = (value))

/* The compiler forgets what it knows of a value, and so keeps arithmetic that replaces branches. */
#define opaque(value) __asm__ volatile("" : "+r"(value))

/* All ones where @value is not 0, else 0; like opaque() for what must not become a branch. */
static __always_inline __u64 mask_of(__u64 value)
{
	__u64 sign = value | -value, mask;

	opaque(sign);
	mask = (__u64)((__s64)sign >> 63);
	opaque(mask);
	return mask;
}

/*
 * Before a loop whose back edge must not exist: kernel 6.1 refuses one that falls through into its
 * loop's head, which is how clang lays some loops out.
 */
#ifdef __bpf__
#define unrolled _Pragma("clang loop unroll(full)")
#else
#define unrolled
#endif

/*
 * A function that the verifier looks at by itself, in a header that several objects include: when
 * they are linked, one of the copies is taken.
 */
#define shared_function __attribute__((noinline, weak))

#define likely(condition) __builtin_expect(!!(condition), 1)
#define unlikely(condition) __builtin_expect(!!(condition), 0)

#endif /* STILE_BPF_COMPILER_H */
