/*
 * The forms of the kernel on x86-64.  Whether the system keeps the wide
 * registers is part of what __builtin_cpu_supports asks.
 */

#include <cpuid.h>

#include "compute_int.h"

static bool
has_avx2(void)
{

	return (__builtin_cpu_supports("avx2") != 0);
}

/* Not every compiler that knows AVX-VNNI knows its name: CPUID 7.1, EAX. */
static bool
has_avx2_vnni(void)
{
	unsigned a, b, c, d;

	return (has_avx2() && __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0 &&
	    (a & 1u << 4) != 0);
}

static bool
has_avx512(void)
{

	return (__builtin_cpu_supports("avx512f") &&
	    __builtin_cpu_supports("avx512bw"));
}

static bool
has_avx512_vnni(void)
{

	return (has_avx512() && __builtin_cpu_supports("avx512vnni"));
}

const struct cl_compute_form cl_compute_table[] = {
	{ "avx512-vnni", has_avx512_vnni, cl_compute_rows_avx512_vnni },
	{ "avx512", has_avx512, cl_compute_rows_avx512 },
	{ "avx2-vnni", has_avx2_vnni, cl_compute_rows_avx2_vnni },
	{ "avx2", has_avx2, cl_compute_rows_avx2 },
	{ NULL, NULL, NULL }
};
