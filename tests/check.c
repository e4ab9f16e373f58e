/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The runner of every CUnit test binary. CUnit keeps the books; what is printed is ours, because
 * CUnit hides the values that were compared. A test that checks nothing is a failure, and so is
 * one that skips although nothing was missing.
 */
#include "check.h"

#include <inttypes.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <CUnit/CUnit.h>
#include <CUnit/TestRun.h>

/* The bounds of the linker section that CHECK_SUITE fills. */
extern const struct check_suite *const __start_check_suites[];
extern const struct check_suite *const __stop_check_suites[];

/* CUnit's handlers take no context. */
static struct {
	bool verbose;
	bool skipped; /* the running test */
	unsigned int asserts;
	unsigned int failures;
	unsigned int n_skipped, n_hollow;
} runner;

static void report(bool good, const struct check_place *place, const char *text)
{
	if (!good) {
		printf("%s:%d - %s\n", place->file, place->line, text);
		runner.failures++;
	}
	CU_assertImplementation(good, (unsigned int)place->line, text, place->file, "", CU_FALSE);
}

static void print_number(char text[32], struct check_number number)
{
	if (number.is_unsigned)
		snprintf(text, 32, "%llu", number.value);
	else
		snprintf(text, 32, "%lld", (long long)number.value);
}

bool check_eq(struct check_place place, struct check_number got, struct check_number want)
{
	char text[512], got_text[32], want_text[32];

	print_number(got_text, got);
	print_number(want_text, want);
	snprintf(text, sizeof(text), "%s: got %s, want %s", place.what, got_text, want_text);
	report(got.value == want.value, &place, text);
	return got.value == want.value;
}

bool check_str_eq(struct check_place place, const char *got, const char *want)
{
	bool good = got && want ? strcmp(got, want) == 0 : got == want;
	char text[4096];

	snprintf(text, sizeof(text), "%s: got '%s', want '%s'", place.what, got ? got : "(null)",
		 want ? want : "(null)");
	report(good, &place, text);
	return good;
}

static void print_bytes(char text[256], const unsigned char *bytes, size_t n)
{
	size_t length = 0;

	text[0] = '\0';
	for (size_t i = 0; i < n && length < 240; i++)
		length += (size_t)snprintf(text + length, 256 - length, "%02x", bytes[i]);
	if (n * 2 > length)
		snprintf(text + length, 256 - length, "..");
}

bool check_mem_eq(struct check_place place, const void *got, const void *want, size_t n)
{
	bool good = memcmp(got, want, n) == 0;
	char text[1024], got_text[256], want_text[256];

	print_bytes(got_text, got, n);
	print_bytes(want_text, want, n);
	snprintf(text, sizeof(text), "%s: got %s, want %s", place.what, got_text, want_text);
	report(good, &place, text);
	return good;
}

bool check_privileged(void)
{
	const uint64_t needed = 1ULL << CAP_NET_ADMIN | 1ULL << CAP_SYS_ADMIN;
	uint64_t effective = 0;
	char line[256];
	FILE *status;

	status = fopen("/proc/self/status", "re");
	if (!status)
		return false;
	while (fgets(line, sizeof(line), status))
		if (sscanf(line, "CapEff: %" SCNx64, &effective) == 1)
			break;
	(void)fclose(status); /* only read */
	return (effective & needed) == needed;
}

void check_skip(struct check_place place)
{
	char text[512];

	runner.skipped = !check_privileged();
	snprintf(text, sizeof(text), "skipped though nothing was missing: %s", place.what);
	report(runner.skipped, &place, text);
	if (runner.skipped)
		printf("%s:%d - skipped: %s\n", place.file, place.line, place.what);
}

const char *check_stile(void)
{
	const char *path = getenv("STILE");

	return path ? path : "build/stile";
}

static void test_started(const CU_pTest test, const CU_pSuite suite)
{
	if (runner.verbose)
		printf("%s/%s\n", suite->pName, test->pName);
	runner.skipped = false;
	runner.failures = 0;
	runner.asserts = CU_get_number_of_asserts();
}

static void test_completed(const CU_pTest test, const CU_pSuite suite,
			   const CU_pFailureRecord failure)
{
	(void)failure; /* printed by report() when it happened */
	if (runner.skipped)
		runner.n_skipped++;
	if (runner.failures)
		printf("FAILED: %s/%s\n", suite->pName, test->pName);
	if (CU_get_number_of_asserts() == runner.asserts) {
		printf("FAILED: %s/%s checked nothing\n", suite->pName, test->pName);
		runner.n_hollow++;
	}
}

static void suite_setup_failed(const CU_pSuite suite)
{
	printf("FAILED: setup of %s\n", suite->pName);
}

static void suite_teardown_failed(const CU_pSuite suite)
{
	printf("FAILED: teardown of %s\n", suite->pName);
}

/* Is SUITE/TEST asked for by one of @names, each SUITE or SUITE/TEST? */
static bool is_wanted(const char *suite, const char *test, char *const *names)
{
	char path[256];

	if (!*names)
		return true;
	snprintf(path, sizeof(path), "%s/%s", suite, test);
	for (; *names; names++)
		if (strcmp(*names, suite) == 0 || strcmp(*names, path) == 0)
			return true;
	return false;
}

static void add_suite(const struct check_suite *suite, char *const *names, bool list)
{
	CU_pSuite added = NULL;

	for (size_t i = 0; i < suite->n_tests; i++) {
		const struct check_test *test = &suite->tests[i];

		if (!is_wanted(suite->name, test->name, names))
			continue;
		if (list)
			printf("%s/%s\n", suite->name, test->name);
		if (!added)
			added = CU_add_suite(suite->name, suite->setup, suite->teardown);
		if (!added || !CU_add_test(added, test->name, test->run))
			printf("cannot add %s/%s: %s\n", suite->name, test->name,
			       CU_get_error_msg());
	}
}

/* Adds this run's numbers to the file of which tests/run.sh makes its sum. */
static void write_results(unsigned int passed, unsigned int failed)
{
	const char *path = getenv("CHECK_RESULTS");
	FILE *out;

	if (!path)
		return;
	out = fopen(path, "ae");
	if (!out) {
		perror(path);
		return;
	}
	fprintf(out, "%u %u %u\n", passed, failed, runner.n_skipped);
	if (fclose(out) != 0)
		perror(path);
}

static int run_all(void)
{
	unsigned int run, failed;

	CU_set_test_start_handler(test_started);
	CU_set_test_complete_handler(test_completed);
	CU_set_suite_init_failure_handler(suite_setup_failed);
	CU_set_suite_cleanup_failure_handler(suite_teardown_failed);
	CU_run_all_tests();
	CU_print_run_results(stdout);
	printf("\n%u skipped\n", runner.n_skipped);
	run = CU_get_number_of_tests_run();
	failed = CU_get_number_of_tests_failed() + runner.n_hollow;
	write_results(run - failed - runner.n_skipped, failed + CU_get_number_of_suites_failed());
	if (failed || CU_get_number_of_suites_failed() || run == 0)
		return EXIT_FAILURE;
	return EXIT_SUCCESS;
}

int check_main(int argc, char **argv)
{
	bool list = false;
	int code = EXIT_SUCCESS;
	int i = 1;

	for (; i < argc && argv[i][0] == '-'; i++) {
		runner.verbose = runner.verbose || strcmp(argv[i], "-v") == 0;
		list = list || strcmp(argv[i], "-l") == 0;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (CU_initialize_registry() != CUE_SUCCESS)
		return EXIT_FAILURE;
	for (const struct check_suite *const *suite = __start_check_suites;
	     suite < __stop_check_suites; suite++)
		add_suite(*suite, argv + i, list);
	if (!list)
		code = run_all();
	CU_cleanup_registry();
	return code;
}
