/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Real clients of services on TCP that are told in their own language that those are busy. */
#include <stdio.h>

#include "check.h"
#include "service.h"

/* One connection an hour, which is spent before a client is asked. */
#define CONFIG(port, keys)                                                                         \
	"interfaces: {srv0: {}}\n"                                                                 \
	"rate_limiters: {few: {limit: 1, window: 1h}}\n"                                           \
	"listeners: {service: {ports: [" port "], rate_limiter_name: few, " keys "}}\n"            \
	"metrics: {listen: \"127.0.0.1:9466\"}\n"

/* Whether the service is there or not: what is admitted is spent. */
#define SPEND(port)                                                                                \
	"for to in $SERVER $SERVER6; do timeout 2 bash -c \"</dev/tcp/$to/" port "\"; done; true"

static bool begin(struct live *live, const char *name, const char *config, const char *spend)
{
	return live_begin(live, name) && live_start(live, config) &&
	       CHECK("what is admitted is spent", service_ask(live, spend).code == 0);
}

static void test_http(void)
{
	autolive struct live live;

	if (!live_begin(&live, "http") || !live_start_web(&live) ||
	    !live_start(&live, CONFIG("80", "app_protocol: http")))
		return;
	service_says(&live, "curl -s http://$SERVER/", "the service");
	service_says(&live, "curl -s 'http://['$SERVER6']/'", "the service");
	service_says(&live, "curl -si http://$SERVER/", "HTTP/1.1 429 Too Many Requests\r\n");
	service_says(&live, "curl -si http://$SERVER/", "Retry-After: ");
	service_says(&live, "curl -si http://$SERVER/", "\r\n\r\nToo Many Requests\n");
	service_says(&live, "curl -si 'http://['$SERVER6']/'", "\r\n\r\nToo Many Requests\n");
	service_says(&live, "curl -sI http://$SERVER/", "HTTP/1.1 429 Too Many Requests\r\n");
	service_says(&live,
		     "head -c 10000000 /dev/zero | curl -si --data-binary @- http://$SERVER/",
		     "HTTP/1.1 429 Too Many Requests\r\n");
	service_says(&live, "wget -O - http://$SERVER/ 2>&1", "ERROR 429: Too Many Requests");
	service_says(
		&live,
		"python3 -c 'import urllib.request; urllib.request.urlopen(\"http://'$SERVER'/\")'",
		"urllib.error.HTTPError: HTTP Error 429: Too Many Requests");
}

/* What Retry-After says is true: whoever waits for just that is let in. */
static void test_retry(void)
{
	autolive struct live live;

	if (!live_begin(&live, "http-retry") || !live_start_web(&live) ||
	    !live_start(&live,
			"interfaces: {srv0: {}}\n"
			"rate_limiters: {few: {algorithm: token_bucket, limit: 30, window: 1m, "
			"burst: 1}}\n"
			"listeners: {web: {ports: [80], rate_limiter_name: few, app_protocol: "
			"http}}\n"))
		return;
	service_says(&live, "curl -s http://$SERVER/", "the service");
	service_says(&live, "curl -sS --retry 1 http://$SERVER/ 2>&1", "the service");
}

static void test_redis(void)
{
	autolive struct live live;

	if (begin(&live, "redis", CONFIG("6379", "app_protocol: redis"), SPEND("6379")))
		service_says(&live, "redis-cli -h $SERVER ping",
			     "ERR max number of clients reached");
}

static void test_postgresql(void)
{
	static const char error[] = "FATAL:  sorry, too many clients already";
	autolive struct live live;

	if (!begin(&live, "postgresql", CONFIG("5432", "app_protocol: postgresql"), SPEND("5432")))
		return;
	service_says(&live, "psql \"host=$SERVER user=a sslmode=disable\" 2>&1", error);
	service_says(&live, "psql \"host=$SERVER user=a sslmode=prefer\" 2>&1", error);
	service_says(&live, "psql \"host=$SERVER6 user=a sslmode=prefer\" 2>&1",
		     "HINT:  Try again");
}

static void test_mysql(void)
{
	autolive struct live live;

	if (begin(&live, "mysql", CONFIG("3306", "app_protocol: mysql"), SPEND("3306")))
		service_says(&live, "mysql -h $SERVER -u a 2>&1", "Too many connections");
}

static void test_smtp(void)
{
	autolive struct live live;

	if (begin(&live, "smtp", CONFIG("25", "app_protocol: smtp"), SPEND("25")))
		service_says(&live, "swaks --server $SERVER --to a@example.org 2>&1",
			     "421 Service busy, try again in");
}

static void test_tls(void)
{
	autolive struct live live;

	if (!begin(&live, "tls", CONFIG("443", "app_protocol: tls"), SPEND("443")))
		return;
	service_says(&live, "openssl s_client -connect $SERVER:443 2>&1", "alert internal error");
	service_says(&live, "curl -sS https://$SERVER/ 2>&1", "alert internal error");
}

CHECK_SUITE(languages, { "curl, wget and python", test_http }, { "curl --retry", test_retry },
	    { "redis-cli", test_redis }, { "psql", test_postgresql }, { "mysql", test_mysql },
	    { "swaks", test_smtp }, { "openssl s_client and curl https", test_tls });
