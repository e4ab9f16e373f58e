/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests of the daemon with real traffic, in network namespaces of their own. */
#include "check.h"

int main(int argc, char **argv)
{
	return check_main(argc, argv);
}
