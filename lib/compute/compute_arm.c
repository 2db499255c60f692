/*
 * The forms of the kernel on 64-bit ARM.  NEON is part of the architecture;
 * the dot product came later, and every Apple processor has it.
 */

#include "compute_int.h"

#ifdef __linux__
#include <asm/hwcap.h>
#include <sys/auxv.h>

static bool
has_neon_dot(void)
{

	return ((getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0);
}
#else
#ifdef __ARM_FEATURE_DOTPROD
#define HAS_NEON_DOT	true		/* whatever runs this build */
#else
#define HAS_NEON_DOT	false
#endif

static bool
has_neon_dot(void)
{

	return (HAS_NEON_DOT);
}
#endif

static bool
has_neon(void)
{

	return (true);
}

const struct cl_compute_form cl_compute_table[] = {
	{ "neon-dot", has_neon_dot, cl_compute_rows_neon_dot },
	{ "neon", has_neon, cl_compute_rows_neon },
	{ NULL, NULL, NULL }
};
