/*
 * The modelled device at its bounds, and as text.  How it fares under a
 * reader is in test_io_model.c.
 */

#include <string.h>

#include "cl/err.h"
#include "cl/virtual.h"
#include "unit.h"

static struct cl_virtual_spec
spec_of(const char *s)
{
	struct cl_err err = { 0 };
	struct cl_virtual_spec spec;

	assert(cl_virtual_parse(s, &spec, &err) == CL_OK);
	return (spec);
}

/* Sizes that no device has end at the end of time, not before. */
static void
time_does_not_wrap(void)
{
	struct cl_virtual_spec spec = spec_of("read=1K,latency=80us,depth=32,"
	    "kernel=1K");
	static struct cl_virtual v;

	cl_virtual_init(&v, &spec);
	assert(cl_virtual_serve(&v, 0, UINT64_MAX, false) == INT64_MAX);
	assert(cl_virtual_serve(&v, 0, UINT64_MAX, false) == INT64_MAX);
	assert(cl_virtual_serve(&v, INT64_MAX, 0, true) == INT64_MAX);
	assert(cl_virtual_kernel_ns(&spec, UINT64_MAX) == INT64_MAX);
	assert(cl_virtual_later(INT64_MAX, 1) == INT64_MAX);
	assert(cl_virtual_later(5, UINT64_MAX) == INT64_MAX);
	assert(cl_virtual_later(5, INT64_MAX - 5) == INT64_MAX);
}

/* 2^34 bytes are more than 2^64 billionths, and 2^34 of 3 a ns is no whole. */
static void
long_times_are_exact(void)
{
	struct cl_virtual_spec spec = spec_of("read=3GB,latency=0ns,depth=1");
	static struct cl_virtual v;

	cl_virtual_init(&v, &spec);
	assert(cl_virtual_serve(&v, 0, 1, false) == 1);
	assert(cl_virtual_serve(&v, 0, 3 * (UINT64_C(1) << 40), false) == 1 +
	    (UINT64_C(1) << 40));
	assert(cl_virtual_serve(&v, 0, (UINT64_C(1) << 40) + 1, false) == 1 +
	    (UINT64_C(1) << 40) + UINT64_C(366503875926));
}

static void
the_kernel_takes_bytes_by_its_rate(void)
{
	struct cl_virtual_spec s = spec_of("read=7G,latency=80us,depth=32,"
	    "compute=1.2ms,kernel=12GB");

	assert(s.compute_ns == 1200000);
	assert(cl_virtual_kernel_ns(&s, 12000) == 1000);
	assert(cl_virtual_kernel_ns(&s, 12001) == 1001);
	/* 2^44 bytes: a product of more than 64 bits. */
	assert(cl_virtual_kernel_ns(&s, UINT64_C(1) << 44) ==
	    UINT64_C(1466015503702));
	s.kernel = 0;
	assert(cl_virtual_kernel_ns(&s, 12000) == 0);
}

static bool
text_is(const char *s, const char *want)
{
	struct cl_virtual_spec spec = spec_of(s), again;
	struct cl_err err = { 0 };
	char buf[CL_VIRTUAL_TEXT_MAX];

	(void)cl_virtual_text(buf, &spec);
	assert(cl_virtual_parse(buf, &again, &err) == CL_OK);
	assert(memcmp(&spec, &again, sizeof(spec)) == 0);
	return (strcmp(buf, want) == 0);
}

static void
a_device_is_printed_as_it_is_read(void)
{

	assert(text_is("read=7G,latency=80us,depth=32",
	    "read=7G,latency=80us,depth=32"));
	assert(text_is("depth=1,latency=0.5ms,read=2048M",
	    "read=2G,latency=500us,depth=1"));
	assert(text_is("read=1.5KB,latency=0ns,depth=1024,dense=3GB",
	    "read=1500,latency=0ns,depth=1024,dense=3000000000"));
	assert(text_is("kernel=12GiB,compute=1.2ms,dense=4G,read=4G,"
	    "latency=1s,depth=8,wake=20000ns",
	    "read=4G,latency=1s,depth=8,wake=20us,compute=1200us,kernel=12G"));
}

static bool
refused(const char *s, const char *why)
{
	struct cl_err err = { 0 };
	struct cl_virtual_spec spec;

	return (cl_virtual_parse(s, &spec, &err) == CL_EINVAL &&
	    strstr(err.msg, why) != NULL);
}

static void
a_device_that_is_not_whole_is_refused(void)
{

	assert(refused("", "not key=value"));
	assert(refused("read=7G", "latency is missing"));
	assert(refused("read=7G,latency=80us", "depth is missing"));
	assert(refused("latency=80us,depth=2", "read is missing"));
	assert(refused("read=7G,latency=80us,depth=32,", "not key=value"));
	assert(refused(",read=7G,latency=80us,depth=32", "not key=value"));
	assert(refused("read=7G,read=7G", "read is given twice"));
	assert(refused("write=7G", "the keys are read"));
	assert(refused("rea=7G", "the keys are read"));
	assert(refused("read", "not key=value"));
	assert(refused("read=", "device: read: \"\": not a size"));
	assert(refused("read=1023", "at least 1024B a second"));
	assert(refused("read=7G,latency=80", "device: latency: \"80\": a time "
	    "needs a unit"));
	assert(refused("wake=20", "device: wake: \"20\": a time needs"));
	assert(refused("read=7G,latency=80us,depth=0", "from 1 to 1024"));
	assert(refused("read=7G,latency=80us,depth=1025", "from 1 to 1024"));
	assert(refused("read=7G,latency=80us,depth=x", "from 1 to 1024"));
	assert(refused("read=0000000000000000000000000000001024",
	    "at most 31 characters"));
	assert(refused("read=7G,latency=80us,depth=32,kernel=0", "at least"));
}

static const struct unit units[] = {
	{ "the clock stops at its end and never wraps", time_does_not_wrap },
	{ "times of any length are exact", long_times_are_exact },
	{ "the kernel takes bytes by its rate",
	    the_kernel_takes_bytes_by_its_rate },
	{ "a device is printed as it is read",
	    a_device_is_printed_as_it_is_read },
	{ "a device that is not whole is refused",
	    a_device_that_is_not_whole_is_refused },
};

UNIT_MAIN(units)
