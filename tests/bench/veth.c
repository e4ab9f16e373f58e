/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * See veth.h. The sender's end drops what is answered, in a thread of its own, so that only making
 * an answer is counted as the receiver's work.
 */
#include "veth.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <linux/ethtool.h>
#include <linux/sockios.h>

#include <bpf/bpf.h>

#include "flood.h"

#include "bench/flood.skel.h"
#include "napi.h"
#include "pkt.h"
#include "util.h"

#define SENDER "st-tx"
#define CHUNK 100000		/* packets of one BPF_PROG_TEST_RUN */
#define BATCH 192		/* on their way at a time; the pair has room for 256 */
#define SOURCES_BASE (1U << 29) /* 32.0.0.0/3 */

/*
 * Of SCHED_FIFO: a batch is handled as soon as it is sent, and nothing comes in between. What drops
 * the answers has the receiver's priority, so that it comes before the next batch.
 */
#define PRIORITY_SENDER 1
#define PRIORITY_RECEIVER 2

struct veth {
	struct flood_bpf *skeleton;
	int sender_ns, receiver_ns;
	int cpu;
	int sender_link;
	struct pkt_frame frame;
};

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now); /* this clock is always there */
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* A shell command; what it says on stderr is seen. */
static int command(const char *text)
{
	return system(text) == 0 ? 0 : -EIO; /* NOLINT(cert-env33-c): a benchmark's own text */
}

static int write_text(const char *path, const char *text)
{
	autofile FILE *file = fopen(path, "we");

	return file && fputs(text, file) >= 0 && fflush(file) == 0 ? 0 : -errno;
}

static double statistic(const char *device, const char *name)
{
	autofile FILE *file = NULL;
	double value = 0;
	char path[128];

	snprintf(path, sizeof(path), "/sys/class/net/%s/statistics/%s", device, name);
	file = fopen(path, "re");
	if (!file || fscanf(file, "%lf", &value) != 1) /* NOLINT(cert-err34-c): the kernel's */
		return 0;
	return value;
}

/* A /sys that tells of the namespace that the process is in, seen by nobody else. */
static int mount_sys(void)
{
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("sysfs", "/sys", "sysfs", 0, NULL) < 0)
		return -errno;
	return 0;
}

static int set_threaded(const char *device)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/class/net/%s/threaded", device);
	return write_text(path, "1");
}

static int new_namespace(int *ret_fd)
{
	if (unshare(CLONE_NEWNET) < 0)
		return -errno;
	*ret_fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	return *ret_fd < 0 ? -errno : 0;
}

/* The last one that may be used. */
static int choose_cpu(struct veth *veth)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		return -errno;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (CPU_ISSET(cpu, &set))
			veth->cpu = cpu;
	}
	return 0;
}

/* Without XDP, a veth takes packets of another's XDP only when GRO gives it a queue for them. */
static int enable_gro(const char *device)
{
	struct ethtool_value value = { .cmd = ETHTOOL_SGRO, .data = 1 };
	struct ifreq request = { .ifr_data = (void *)&value };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), result = 0;

	if (fd < 0)
		return -errno;
	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", device);
	if (ioctl(fd, SIOCETHTOOL, &request) < 0)
		result = -errno;
	close(fd);
	return result;
}

/* The receiver's end, in the namespace that the process is in. */
static int make_pair(const struct veth *veth)
{
	char text[1024];

	snprintf(text, sizeof(text),
		 "set -e\n"
		 "ip link set lo up\n"
		 "ip link add " VETH_RECEIVER
		 " address 02:00:00:00:00:02 numrxqueues 1 numtxqueues 1"
		 " type veth peer name " SENDER " address 02:00:00:00:00:01"
		 " numrxqueues 1 numtxqueues 1 netns /proc/%d/fd/%d\n"
		 "ip address add " VETH_SERVER "/24 dev " VETH_RECEIVER "\n"
		 "ip link set " VETH_RECEIVER " up\n"
		 "ip neighbour add 10.77.0.2 lladdr 02:00:00:00:00:01 dev " VETH_RECEIVER "\n"
		 "ip route add default via 10.77.0.2 dev " VETH_RECEIVER "\n",
		 (int)getpid(), veth->sender_ns);
	return command(text);
}

/* In the sender's namespace: drops whatever comes back. */
static int ready_sender(struct veth *veth)
{
	int result = command("ip link set " SENDER " up");

	if (result)
		return result;
	veth->skeleton->bss->flood.ifindex = if_nametoindex(SENDER);
	result = loader_attach(veth_drop_program(veth), if_nametoindex(SENDER), STILE_MODE_NATIVE,
			       &veth->sender_link);
	if (result == 0)
		result = mount_sys();
	if (result == 0)
		result = set_threaded(SENDER);
	if (result == 0)
		result = thread_pin(napi_find(SENDER), veth->cpu);
	return result ? result : thread_set_priority(napi_find(SENDER), PRIORITY_RECEIVER);
}

/* The options of a SYN of Linux: 1460 bytes, SACK, time stamps, windows scaled by 7. */
static const uint8_t linux_options[] = { 2, 4, 5, 180, 4, 2, 8, 10, 0, 1,
					 2, 3, 0, 0,   0, 0, 1, 3,  3, 7 };

/* The template without what changes, and the sums of the rest. */
static void make_template(struct veth *veth, bool has_options)
{
	static const struct {
		size_t at, size;
	} changes[] = { { FLOOD_IP_CHECK, 2 },
			{ FLOOD_ADDRESS, 4 },
			{ FLOOD_PORT, 2 },
			{ FLOOD_SEQUENCE, 4 },
			{ FLOOD_TCP_CHECK, 2 } };
	const struct pkt_spec spec = {
		.to = VETH_SERVER,
		.dport = VETH_PORT,
		.tcp_options = has_options ? sizeof(linux_options) : 0,
	};
	struct flood *flood = &veth->skeleton->bss->flood;
	struct pkt_frame *frame = &veth->frame;
	uint16_t words[FLOOD_FRAME / 2] = {};

	pkt_build(&spec, frame);
	memcpy(frame->bytes, "\2\0\0\0\0\2\2\0\0\0\0\1", 12); /* MAC addresses: see make_pair() */
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++)
		memset(frame->bytes + changes[i].at, 0, changes[i].size);
	if (has_options)
		memcpy(frame->bytes + frame->l4 + 20, linux_options, sizeof(linux_options));
	flood->ip_sum = flood->tcp_sum = 0;
	memcpy(flood->frame, frame->bytes, frame->size);
	memcpy(words, frame->bytes, frame->size);
	for (size_t i = frame->l3 / 2; i < frame->l4 / 2; i++)
		flood->ip_sum += words[i];
	for (size_t i = frame->l4 / 2; i < frame->size / 2; i++)
		flood->tcp_sum += words[i];
	/* The pseudo header (RFC 9293, 3.1), whose source changes. */
	flood->tcp_sum += words[FLOOD_ADDRESS / 2 + 2] + words[FLOOD_ADDRESS / 2 + 3];
	flood->tcp_sum += htons(IPPROTO_TCP) + htons((uint16_t)(frame->size - frame->l4));
	flood->length = (uint32_t)frame->size;
	flood->random = 88172645463325252ULL; /* any but 0 */
	flood->base = SOURCES_BASE;
	flood->mask = SOURCES_BASE - 1;
}

void veth_use_options(struct veth *veth)
{
	make_template(veth, true);
}

static int build(struct veth *veth)
{
	int result = choose_cpu(veth);

	veth->skeleton = flood_bpf__open_and_load();
	if (!veth->skeleton)
		return -errno;
	make_template(veth, false);
	if (result == 0)
		result = unshare(CLONE_NEWNS) < 0 ? -errno : 0;
	if (result == 0)
		result = new_namespace(&veth->sender_ns);
	if (result == 0)
		result = new_namespace(&veth->receiver_ns);
	if (result == 0)
		result = make_pair(veth);
	if (result == 0)
		result = enable_gro(VETH_RECEIVER);
	if (result == 0)
		result = setns(veth->sender_ns, CLONE_NEWNET) < 0 ? -errno : ready_sender(veth);
	if (result == 0)
		result = setns(veth->receiver_ns, CLONE_NEWNET) < 0 ? -errno : mount_sys();
	return result ? result : set_threaded(VETH_RECEIVER);
}

int veth_new(struct veth **ret_veth)
{
	struct veth *veth = calloc(1, sizeof(*veth));
	int result;

	if (!veth)
		return -ENOMEM;
	veth->sender_ns = veth->receiver_ns = veth->sender_link = -1;
	result = build(veth);
	if (result)
		veth_free(veth);
	else
		*ret_veth = veth;
	return result;
}

void veth_free(struct veth *veth)
{
	if (!veth)
		return;
	if (veth->sender_link >= 0)
		close(veth->sender_link);
	if (veth->sender_ns >= 0)
		close(veth->sender_ns);
	if (veth->receiver_ns >= 0)
		close(veth->receiver_ns);
	flood_bpf__destroy(veth->skeleton);
	free(veth);
}

int veth_drop_program(const struct veth *veth)
{
	return bpf_program__fd(veth->skeleton->progs.flood_drop);
}

int veth_parse_program(const struct veth *veth)
{
	return bpf_program__fd(veth->skeleton->progs.flood_parse_drop);
}

int veth_decide_program(const struct veth *veth, int target)
{
	uint32_t zero = 0;

	if (bpf_map_update_elem(bpf_map__fd(veth->skeleton->maps.flood_target), &zero, &target,
				BPF_ANY) < 0)
		return -errno;
	return bpf_program__fd(veth->skeleton->progs.flood_decide);
}

static int send_chunk(const struct veth *veth)
{
	struct xdp_md context = { .data_end = (uint32_t)veth->frame.size };
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = veth->frame.bytes,
		    .data_size_in = (uint32_t)veth->frame.size, .ctx_in = &context,
		    .ctx_size_in = sizeof(context), .repeat = CHUNK, .batch_size = BATCH,
		    .flags = BPF_F_TEST_XDP_LIVE_FRAMES);
	int program = bpf_program__fd(veth->skeleton->progs.flood_send), result;

	if (setns(veth->sender_ns, CLONE_NEWNET) < 0)
		return -errno;
	result = bpf_prog_test_run_opts(program, &options) < 0 ? -errno : 0;
	if (setns(veth->receiver_ns, CLONE_NEWNET) < 0)
		abort(); /* nothing would be where it is looked for */
	return result;
}

/* What the receiver's end has counted so far. */
static struct veth_result look(pid_t thread)
{
	return (struct veth_result){
		.handled = statistic(VETH_RECEIVER, "rx_packets"),
		.answered = statistic(VETH_RECEIVER, "tx_packets") +
			    statistic(VETH_RECEIVER, "tx_dropped"),
		.cpu_ns = thread_ns(thread),
		.wall_ns = now_ns(),
	};
}

static int send_chunks(struct veth *veth, uint32_t packets)
{
	int result = thread_set_priority(0, PRIORITY_SENDER);

	for (uint32_t sent = 0; sent < packets && result == 0; sent += CHUNK)
		result = send_chunk(veth);
	if (thread_set_priority(0, 0) < 0)
		abort(); /* what follows would hold a CPU */
	return result;
}

int veth_flood(struct veth *veth, uint64_t keys, uint32_t packets, struct veth_result *ret_result)
{
	pid_t thread = napi_find(VETH_RECEIVER);
	struct veth_result before = look(thread), after;
	int result = thread ? thread_pin(thread, veth->cpu) : -ESRCH;

	veth->skeleton->bss->flood.keys = keys;
	if (result == 0)
		result = thread_set_priority(thread, PRIORITY_RECEIVER);
	if (result == 0)
		result = thread_pin(0, veth->cpu);
	if (result == 0)
		result = send_chunks(veth, packets);
	if (result)
		return result;
	after = look(thread);
	*ret_result = (struct veth_result){
		.handled = after.handled - before.handled,
		.answered = after.answered - before.answered,
		.cpu_ns = after.cpu_ns - before.cpu_ns,
		.wall_ns = after.wall_ns - before.wall_ns,
	};
	return ret_result->handled < packets ? -ENOBUFS : 0;
}
