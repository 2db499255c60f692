/*
 * A device as text.  Whatever is given is checked against what the model can
 * reckon with; what is printed is exact, in the largest unit that divides it.
 */

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cl/err.h"
#include "cl/text.h"
#include "cl/virtual.h"

#define VALUE_CAP	32
#define NUNITS		4

enum {
	READ, LATENCY, DEPTH, NEEDED, DENSE = NEEDED, WAKE, COMPUTE, KERNEL,
	NKEYS
};

static const char *const key_names[NKEYS] = {
	[READ] = "read",
	[LATENCY] = "latency",
	[DEPTH] = "depth",
	[DENSE] = "dense",
	[WAKE] = "wake",
	[COMPUTE] = "compute",
	[KERNEL] = "kernel"
};

static int
parse_rate(const char *s, uint64_t *v, struct cl_err *err)
{
	int status;

	if ((status = cl_text_size(s, v, err)) != CL_OK)
		return (status);
	if (*v < CL_VIRTUAL_RATE_MIN)
		return (cl_fail(err, CL_EINVAL, "\"%s\": at least %uB a "
		    "second are wanted", s, CL_VIRTUAL_RATE_MIN));
	return (CL_OK);
}

static int
parse_value(struct cl_virtual_spec *spec, int key, const char *s,
    struct cl_err *err)
{
	uint64_t v = 0;
	int status;

	switch (key) {
	case READ:
		return (parse_rate(s, &spec->read, err));
	case LATENCY:
		return (cl_text_ns(s, &spec->latency_ns, err));
	case DEPTH:
		status = cl_text_u64(s, 1, CL_VIRTUAL_DEPTH_MAX, &v, err);
		spec->depth = (uint32_t)v;
		return (status);
	case DENSE:
		return (parse_rate(s, &spec->dense, err));
	case WAKE:
		return (cl_text_ns(s, &spec->wake_ns, err));
	case COMPUTE:
		return (cl_text_ns(s, &spec->compute_ns, err));
	default:
		return (parse_rate(s, &spec->kernel, err));
	}
}

static int
find_key(const char *s, size_t n)
{
	int key;

	for (key = 0; key < NKEYS; key++)
		if (strlen(key_names[key]) == n &&
		    memcmp(key_names[key], s, n) == 0)
			break;
	return (key);
}

/* One "key=value" of n bytes. */
static int
parse_setting(struct cl_virtual_spec *spec, bool *given, const char *s,
    size_t n, struct cl_err *err)
{
	const char *equals = memchr(s, '=', n);
	char vis[VALUE_CAP], value[VALUE_CAP];
	size_t len;
	int key, status;

	(void)cl_text_vis(vis, sizeof(vis), s, n);
	if (equals == NULL)
		return (cl_fail(err, CL_EINVAL, "device: \"%s\" is not "
		    "key=value", vis));
	if ((key = find_key(s, (size_t)(equals - s))) == NKEYS)
		return (cl_fail(err, CL_EINVAL, "device: \"%s\": the keys are "
		    "read, latency, depth, dense, wake, compute, kernel", vis));
	if (given[key])
		return (cl_fail(err, CL_EINVAL, "device: %s is given twice",
		    key_names[key]));
	given[key] = true;
	len = n - (size_t)(equals + 1 - s);
	if (len >= sizeof(value))
		return (cl_fail(err, CL_EINVAL, "device: %s: a value of at "
		    "most %zu characters is wanted", key_names[key],
		    sizeof(value) - 1));
	memcpy(value, equals + 1, len);
	value[len] = '\0';
	if ((status = parse_value(spec, key, value, err)) != CL_OK) {
		cl_err_prefix(err, key_names[key]);
		cl_err_prefix(err, "device");
	}
	return (status);
}

int
cl_virtual_parse(const char *s, struct cl_virtual_spec *spec,
    struct cl_err *err)
{
	bool given[NKEYS] = { false };
	size_t n;
	int key, status;

	memset(spec, 0, sizeof(*spec));
	for (;; s += n + 1) {
		n = strcspn(s, ",");
		status = parse_setting(spec, given, s, n, err);
		if (status != CL_OK)
			return (status);
		if (s[n] == '\0')
			break;
	}
	for (key = 0; key < NEEDED; key++)
		if (!given[key])
			return (cl_fail(err, CL_EINVAL, "device: %s is "
			    "missing (read=7G,latency=80us,depth=32)",
			    key_names[key]));
	if (!given[DENSE])
		spec->dense = spec->read;
	return (CL_OK);
}

/* v in the largest unit that divides it, each base times the one before. */
static const char *
in_units(char buf[VALUE_CAP], uint64_t v, uint64_t base,
    const char *const units[NUNITS])
{
	int i;

	for (i = 0; i + 1 < NUNITS && v != 0 && v % base == 0; i++)
		v /= base;
	(void)snprintf(buf, VALUE_CAP, "%llu%s", (unsigned long long)v,
	    units[i]);
	return (buf);
}

const char *
cl_virtual_text(char buf[CL_VIRTUAL_TEXT_MAX],
    const struct cl_virtual_spec *spec)
{
	static const char *const bytes[NUNITS] = { "", "K", "M", "G" };
	static const char *const times[NUNITS] = { "ns", "us", "ms", "s" };
	char a[VALUE_CAP], b[VALUE_CAP];
	size_t n;

	n = (size_t)snprintf(buf, CL_VIRTUAL_TEXT_MAX,
	    "read=%s,latency=%s,depth=%u",
	    in_units(a, spec->read, 1024, bytes),
	    in_units(b, spec->latency_ns, 1000, times), spec->depth);
	if (spec->dense != spec->read)
		n += (size_t)snprintf(buf + n, CL_VIRTUAL_TEXT_MAX - n,
		    ",dense=%s", in_units(a, spec->dense, 1024, bytes));
	if (spec->wake_ns != 0)
		n += (size_t)snprintf(buf + n, CL_VIRTUAL_TEXT_MAX - n,
		    ",wake=%s", in_units(a, spec->wake_ns, 1000, times));
	if (spec->compute_ns != 0)
		n += (size_t)snprintf(buf + n, CL_VIRTUAL_TEXT_MAX - n,
		    ",compute=%s", in_units(a, spec->compute_ns, 1000,
		    times));
	if (spec->kernel != 0)
		(void)snprintf(buf + n, CL_VIRTUAL_TEXT_MAX - n,
		    ",kernel=%s", in_units(a, spec->kernel, 1024, bytes));
	return (buf);
}
