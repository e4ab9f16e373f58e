/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What this host can do for Stile and what it cannot: facts are looked up (doctor_look*.c), each is
 * judged by itself (doctor.c, pure), and cmd_doctor.c prints what was found.
 */
#ifndef STILE_DOCTOR_H
#define STILE_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "diag.h"
#include "netif.h"

#define DOCTOR_SUBJECT_SIZE 64
#define DOCTOR_TEXT_SIZE 320
#define DOCTOR_UNTOLD (-1) /* the kernel does not say, or not to this user */

enum doctor_grade { DOCTOR_OK, DOCTOR_UNKNOWN, DOCTOR_WARNING, DOCTOR_FAULT, _DOCTOR_GRADE_MAX };

extern const char *const doctor_grade_names[_DOCTOR_GRADE_MAX];

struct doctor_finding {
	enum doctor_grade grade;
	char subject[DOCTOR_SUBJECT_SIZE];
	char found[DOCTOR_TEXT_SIZE];
	char advice[DOCTOR_TEXT_SIZE]; /* what to do about it; "": nothing */
};

struct doctor {
	struct doctor_finding *findings;
	size_t n;
	bool failed;			   /* out of memory: something is missing */
	char subject[DOCTOR_SUBJECT_SIZE]; /* of the findings that come next */
};

__attribute__((format(printf, 2, 3))) void doctor_about(struct doctor *doctor, const char *format,
							...);

/* A finding about the subject. @advice may be NULL. */
__attribute__((format(printf, 4, 5))) void doctor_say(struct doctor *doctor,
						      enum doctor_grade grade, const char *advice,
						      const char *format, ...);
size_t doctor_count(const struct doctor *doctor, enum doctor_grade grade);
void doctor_release(struct doctor *doctor);

struct doctor_kernel {
	char release[65];
	unsigned int major, minor;
	bool btf, bpffs, privileged;
	bool loads, admits;  /* the programs; without privilege both are false */
	char refusal[256];   /* why they do not load */
	char cgroup[128];    /* where cgroup2 is mounted; "": nowhere */
	long long jit;	     /* net.core.bpf_jit_enable, or DOCTOR_UNTOLD, as those that follow */
	long long somaxconn; /* net.core.somaxconn */
	long long syncookies;
	long long syn_backlog; /* net.ipv4.tcp_max_syn_backlog */
};

struct doctor_interface {
	char name[NETIF_NAME_SIZE];
	int error; /* 0, or why nothing is known of it: negative errno */
	struct netif_state state;
	struct netif_features features;
	char driver[32];		/* "": it tells none */
	bool ethernet, vlans;		/* vlans: it has devices of VLANs on top */
	uint32_t native, generic, ours; /* programs attached, and our own one; 0: none */
};

/* A socket that listens at a port which is protected. */
struct doctor_service {
	char listener[64];
	char local[64]; /* address and port */
	uint32_t queued, backlog;
};

/* Another network namespace. */
struct doctor_namespace {
	int pid; /* of a process in it */
	char name[16];
	unsigned int listening; /* sockets that listen in it on TCP */
};

void doctor_judge_kernel(const struct doctor_kernel *kernel, struct doctor *doctor);
void doctor_judge_interface(const struct doctor_interface *interface, struct doctor *doctor);
void doctor_judge_service(const struct doctor_service *service, long long somaxconn,
			  struct doctor *doctor);
void doctor_judge_namespaces(const struct doctor_namespace *namespaces, size_t n, size_t hidden,
			     struct doctor *doctor);
/* Each entry of @diag is a finding about the file. */
void doctor_judge_config(const struct diag *diag, struct doctor *doctor);

void doctor_look_kernel(struct doctor_kernel *ret_kernel);
void doctor_look_interface(const char *name, uint32_t ours, struct doctor_interface *ret_interface);

/* Those of processes that this one may look at; *ret_hidden: how many it may not. */
size_t doctor_look_namespaces(struct doctor_namespace *ret_namespaces, size_t n_max,
			      size_t *ret_hidden);

#endif /* STILE_DOCTOR_H */
