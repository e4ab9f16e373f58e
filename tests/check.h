/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What every CUnit test binary is made of. A test file ends with CHECK_SUITE(name, { "sentence",
 * function }, ...), which lists it in a linker section: that is the table the runner walks, so a
 * new file needs no other line. A failed check prints file:line - sentence: got X, want Y.
 */
#ifndef STILE_CHECK_H
#define STILE_CHECK_H

#include <stdbool.h>
#include <stddef.h>

struct check_test {
	const char *name;
	void (*run)(void);
};

struct check_suite {
	const char *name;
	const struct check_test *tests;
	size_t n_tests;
	int (*setup)(void);    /* 0: done. NULL: none */
	int (*teardown)(void); /* the same */
};

/* Lists a suite. */
#define CHECK_SUITE(name, ...) CHECK_SUITE_WITH(name, NULL, NULL, __VA_ARGS__)

/* The same with functions that run before its first and after its last test. */
#define CHECK_SUITE_WITH(suite, before, after, ...)                                                \
	static const struct check_test check_tests_##suite[] = { __VA_ARGS__ };                    \
	static const struct check_suite check_suite_##suite = {                                    \
		.name = #suite,                                                                    \
		.tests = check_tests_##suite,                                                      \
		.n_tests = sizeof(check_tests_##suite) / sizeof(check_tests_##suite[0]),           \
		.setup = before,                                                                   \
		.teardown = after,                                                                 \
	};                                                                                         \
	static const struct check_suite *const check_entry_##suite                                 \
		__attribute__((section("check_suites"), used)) = &check_suite_##suite

/* Numbers of any type, pointers not. True where they are equal. */
#define CHECK_EQ(what, got, want) check_eq(CHECK_AT(what), check_number(got), check_number(want))

/* Strings, each of which may be NULL. */
#define CHECK_STR_EQ(what, got, want) check_str_eq(CHECK_AT(what), got, want)

/* @n bytes. */
#define CHECK_MEM_EQ(what, got, want, n) check_mem_eq(CHECK_AT(what), got, want, n)

/* Something that is true. */
#define CHECK(what, condition) CHECK_EQ(what, (condition) ? 1 : 0, 1)

/* Lists the running test as skipped; it must return then. A failure where nothing was missing. */
#define CHECK_SKIP(reason) check_skip(CHECK_AT(reason))

/* May the process load BPF programs and change the network? Asked before CHECK_SKIP. */
bool check_privileged(void);

/* The program under test, from the environment (STILE), where make puts it. */
const char *check_stile(void);

/* Runs the suites: [-v] [-l] [SUITE or SUITE/TEST]... An exit code. */
int check_main(int argc, char **argv);

/* What the macros above are made of. */
struct check_place {
	const char *file;
	int line;
	const char *what;
};

struct check_number {
	unsigned long long value;
	bool is_unsigned; /* to be printed without a sign */
};

#define CHECK_AT(sentence) ((struct check_place){ __FILE__, __LINE__, sentence })

#define check_number(number)                                                                       \
	((struct check_number){ (unsigned long long)(number), (__typeof__((number) + 0))-1 > 0 })

bool check_eq(struct check_place place, struct check_number got, struct check_number want);
bool check_str_eq(struct check_place place, const char *got, const char *want);
bool check_mem_eq(struct check_place place, const void *got, const void *want, size_t n);
void check_skip(struct check_place place);

#endif /* STILE_CHECK_H */
