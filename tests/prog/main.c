/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests of the loaded program with built packets (BPF_PROG_TEST_RUN). */
#include "check.h"

int main(int argc, char **argv)
{
	return check_main(argc, argv);
}
