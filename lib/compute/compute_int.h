#ifndef COMPUTE_INT_H
#define COMPUTE_INT_H

/*
 * What the forms of the kernel share: the activation in the order in which
 * they want it, and the table of the forms that were built for this machine.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CL_COMPUTE_BLOCK	18	/* bytes: a scale, 16 of nibbles */
#define CL_COMPUTE_NBLOCKS	32	/* of a row */
#define CL_COMPUTE_ROW		(CL_COMPUTE_BLOCK * CL_COMPUTE_NBLOCKS)

/*
 * How many bytes ahead of its work a pass asks for what it will want, to hide
 * what memory takes to answer: into the outer caches, then into the inner one.
 * Past the end of a slab that does no harm.
 */
#define CL_COMPUTE_FAR		3072
#define CL_COMPUTE_NEAR		1024

/* A row weighs this times what the row before it weighs, modulo 2^32. */
#define CL_COMPUTE_STEP		UINT32_C(747796405)

/*
 * lo and hi stand against the low and the high nibbles of a block's bytes.
 * bias[i][l] is what the four bytes from 4 l on are short of: -8 for each
 * nibble times its factor, and a quarter of 32,768, which keeps the sum of a
 * block within [0, 65536).
 */
struct cl_compute_act {
	_Alignas(64) int8_t	 lo[CL_COMPUTE_NBLOCKS][16];
	int8_t			 hi[CL_COMPUTE_NBLOCKS][16];
	int32_t			 bias[CL_COMPUTE_NBLOCKS][4];
	uint64_t		 scale[CL_COMPUTE_NBLOCKS];
};

static inline void
cl_compute_ahead(const uint8_t *p, size_t n)
{
	uintptr_t at = (uintptr_t)p;
	size_t i;

	for (i = 0; i < n; i += 64) {
		__builtin_prefetch((const void *)(at + CL_COMPUTE_FAR + i),
		    0, 2);
		__builtin_prefetch((const void *)(at + CL_COMPUTE_NEAR + i));
	}
}

/*
 * Adds to sum[i] what block i of each of the rows comes to, times the weight
 * of its row.  The first row weighs w; returns what the next one would.
 */
typedef uint32_t cl_compute_rows(const struct cl_compute_act *,
	    const uint8_t *, size_t nrows, uint32_t w,
	    uint64_t sum[CL_COMPUTE_NBLOCKS]);

struct cl_compute_form {
	const char	*name;
	bool		(*usable)(void);	/* by this processor */
	cl_compute_rows	*rows;
};

cl_compute_rows	cl_compute_rows_portable;
cl_compute_rows	cl_compute_rows_avx2;
cl_compute_rows	cl_compute_rows_avx2_vnni;
cl_compute_rows	cl_compute_rows_avx512;
cl_compute_rows	cl_compute_rows_avx512_vnni;
cl_compute_rows	cl_compute_rows_neon;
cl_compute_rows	cl_compute_rows_neon_dot;

/*
 * Those of this architecture beside the portable one, the best first; ended
 * by a name of NULL.  One of compute_x86.c, compute_arm.c and compute_other.c
 * is built.
 */
extern const struct cl_compute_form cl_compute_table[];

/* The sum of a slab by compute_hash.c, from lanes that the seed makes. */
uint64_t	cl_compute_hash(uint64_t seed, const uint8_t *, size_t);

#endif /* COMPUTE_INT_H */
