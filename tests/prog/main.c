/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tests of the loaded program with built packets (BPF_PROG_TEST_RUN), in a network namespace of
 * their own: the program asks for sockets, and these are the tests' alone.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "prog.h"

int main(int argc, char **argv)
{
	int error = check_privileged() ? prog_namespace() : 0;

	if (error) {
		printf("a network namespace for the tests: %s\n", strerror(-error));
		return EXIT_FAILURE;
	}
	return check_main(argc, argv);
}
