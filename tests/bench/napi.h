/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A device's own thread (threaded NAPI): which it is, where and when it runs, what it takes. */
#ifndef STILE_BENCH_NAPI_H
#define STILE_BENCH_NAPI_H

#include <sys/types.h>

/* The thread of @device's first receive queue; 0: there is none. */
pid_t napi_find(const char *device);

/* @thread: 0 is the caller. 0 or -errno. */
int thread_pin(pid_t thread, int cpu);

/* Of SCHED_FIFO; 0: as any other. 0 or -errno. */
int thread_set_priority(pid_t thread, int priority);

/* CPU time that @thread has had, ns. */
double thread_ns(pid_t thread);

#endif /* STILE_BENCH_NAPI_H */
