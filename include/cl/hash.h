#ifndef CL_HASH_H
#define CL_HASH_H

/*
 * 64-bit hashing for fingerprints: XXH64 with seed 0, as specified in
 * xxHash's doc/xxhash_spec.md, so that anybody can compute ours with a stock
 * tool.  Not cryptographic: it tells files apart, it does not prove them.
 * The state is the caller's and may be copied.
 */

#include <stddef.h>
#include <stdint.h>

struct cl_hash {
	uint64_t	acc[4];
	uint64_t	nbytes;
	uint8_t		tail[32];	/* nbytes % 32 of them are used */
};

void		cl_hash_init(struct cl_hash *);
void		cl_hash_add(struct cl_hash *, const void *, size_t);
void		cl_hash_add_u64(struct cl_hash *, uint64_t);  /* 8 bytes, LE */
void		cl_hash_add_str(struct cl_hash *, const char *); /* and NUL */
uint64_t	cl_hash_end(const struct cl_hash *);

/* One step of a chained 64-bit digest; defined in cl-stats(5), DIGEST. */
static inline uint64_t
cl_hash_mix(uint64_t d, uint64_t v)
{

	d = (d ^ v) * UINT64_C(0x9e3779b97f4a7c15);
	return (d ^ d >> 32);
}

#endif /* CL_HASH_H */
