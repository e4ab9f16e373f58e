/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See subject.h. Every sample has threads of its own, each pinned to its CPU. */
#include "subject.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "load.h"

#define NEW_APART (1U << 29) /* addresses between those that are new on one CPU and on the other */
#define RIGHT 0.95	     /* of a sample's decisions are as they are meant to be, or more */

int stage_init(struct stage *stage)
{
	cpu_set_t set;
	int result = 0;

	CPU_ZERO(&set);
	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		return -errno;
	for (int cpu = CPU_SETSIZE - 1; cpu >= 0 && stage->n_cpus < STAGE_CPUS && result == 0;
	     cpu--) {
		if (!CPU_ISSET(cpu, &set))
			continue;
		stage->cpus[stage->n_cpus] = cpu;
		result = drive_new((uint64_t)stage->n_cpus * NEW_APART,
				   &stage->drives[stage->n_cpus]);
		stage->n_cpus++;
	}
	return result;
}

void stage_release(struct stage *stage)
{
	for (int i = 0; i < stage->n_cpus; i++)
		drive_free(stage->drives[i]);
	stage->n_cpus = 0;
}

/* One CPU's part of a sample. */
struct part {
	pthread_t thread;
	const struct subject *subject;
	pthread_barrier_t *start;
	int i;
	int result;
	double ns;
};

static void *run_part(void *context)
{
	struct part *part = context;
	const struct subject *subject = part->subject;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(subject->stage->cpus[part->i], &set);
	part->result = -pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
	pthread_barrier_wait(part->start);
	if (part->result == 0)
		part->result = drive_run(subject->stage->drives[part->i], subject->program,
					 &subject->plan, &part->ns);
	return NULL;
}

/* On every CPU at once; *ret_ns is the mean. */
static int run(const struct subject *subject, double *ret_ns)
{
	struct part parts[STAGE_CPUS];
	pthread_barrier_t start;
	int result = 0, n = 0;
	double ns = 0;

	pthread_barrier_init(&start, NULL, (unsigned int)subject->n_cpus); /* cannot fail here */
	for (; n < subject->n_cpus; n++) {
		parts[n] = (struct part){ .subject = subject, .start = &start, .i = n };
		if (pthread_create(&parts[n].thread, NULL, run_part, &parts[n]) != 0)
			abort(); /* the others wait for it at the barrier */
	}
	for (int i = 0; i < n; i++) {
		pthread_join(parts[i].thread, NULL);
		result = result ? result : parts[i].result;
		ns += parts[i].ns / n;
	}
	pthread_barrier_destroy(&start);
	*ret_ns = ns;
	return result;
}

static uint64_t total(const uint64_t counts[_STILE_DECISION_MAX])
{
	uint64_t sum = 0;

	for (int i = 0; i < _STILE_DECISION_MAX; i++)
		sum += counts[i];
	return sum;
}

int subject_measure(struct bench_row *row, double *ret_values)
{
	uint64_t before[_STILE_DECISION_MAX] = {}, after[_STILE_DECISION_MAX] = {}, events, right;
	const struct subject *subject = row->context;
	int result = 0;

	if (subject->decisions >= 0)
		result = load_decisions(subject->decisions, subject->attachment, before);
	if (result == 0)
		result = run(subject, ret_values);
	if (result == 0 && subject->decisions >= 0)
		result = load_decisions(subject->decisions, subject->attachment, after);
	if (result || subject->decisions < 0)
		return result;
	events = total(after) - total(before);
	right = after[subject->decision] - before[subject->decision];
	if (events && (double)right >= RIGHT * (double)events)
		return 0;
	fprintf(stderr, "%s: %llu of %llu decisions are as meant\n", row->name,
		(unsigned long long)right, (unsigned long long)events);
	return -EBADMSG;
}

struct subject *subject_new(const struct stage *stage, int n_cpus, int program)
{
	struct subject *subject = calloc(1, sizeof(*subject)); /* as long as the program runs */

	if (!subject)
		abort();
	*subject = (struct subject){ .stage = stage, .n_cpus = n_cpus, .program = program };
	subject->decisions = -1;
	return subject;
}
