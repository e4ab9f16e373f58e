/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests of pure code: no privilege, no kernel. */
#include "check.h"

int main(int argc, char **argv)
{
	return check_main(argc, argv);
}
