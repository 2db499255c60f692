#ifndef CL_COMPUTE_H
#define CL_COMPUTE_H

/*
 * compute/: what a step does with the bytes that it has waited for; knows
 * addresses, and no trace, cache or file.
 *
 * A pass over an expert's slabs stands in for the arithmetic of a model, and
 * gives a checksum that depends on every byte and on its place: where in the
 * slab, which slab, which expert, which layer.  Integers only, since arbitrary
 * bytes make scales that are no numbers; the same on every machine.  A handle
 * does not change once it is set up: any thread may compute with it, and the
 * checksum of a run is for its owner to chain.  Sizes are bytes.
 *
 * Everything is modulo 2^64 and little-endian unless it says otherwise; next()
 * is cl_rng_next() on a state that begins as the seed, mix() cl_hash_mix().
 *
 *	h = mix(mix(0, layer), expert)
 *	h = mix(mix(h, nbytes), S)		for each slab, in order
 *	run = mix(run, h)			for each expert, from 0
 *
 * S of a slab is, by kind:
 *
 * kernel: the product of a Q4_0 matrix and a Q8_0 vector.  The slab is cut
 * into rows r of 32 blocks i of 18 bytes, the last row filled up with zeros.
 * A block is a 16-bit scale d and 16 bytes, byte j with element j in its low
 * and element j + 16 in its high nibble; an element stands for q - 8.  The
 * vector's integers a(0) to a(1023) come first from the seed: from z = next(),
 * 1 + (z >> 32) % 127, negative where z is odd; so none is 0.  Its 32 scales
 * e(0) to e(31) follow, each next() with its lowest bit set.
 *
 *	b(r, i) = the sum of (q - 8) a(32 i + j) over the block's elements j
 *	w(r)    = 747796405^r mod 2^32
 *	S = sum of w(r) e(i) (65536 d(r, i) + b(r, i) + 32768) over r and i
 *
 * The term in brackets is one 32-bit number with the scale above the biased
 * sum.  A changed bit always changes S, and so do two unlike blocks of one
 * column that trade places.  Several changes within one block need not: they
 * may leave its sum as it was.
 *
 * checksum: eight lanes, lane j from the seed's next() number j.  The slab is
 * cut into stripes of 64 bytes, the last filled up with zeros; word j of each
 * stripe, in order, becomes lane j = mix(lane j, word).  Then S = 0 and, for
 * each lane in order, S = mix(S, lane).
 *
 * none: the bytes are not looked at, and the checksum of an expert is 0.
 */

#include <stddef.h>
#include <stdint.h>

struct cl_compute;
struct cl_err;

enum cl_compute_kind {
	CL_COMPUTE_KERNEL = 1,
	CL_COMPUTE_CHECKSUM,
	CL_COMPUTE_NONE
};

struct cl_compute_slab {
	const uint8_t	*bytes;		/* of any alignment */
	size_t		 nbytes;
};

const char	*cl_compute_kind_name(enum cl_compute_kind);
enum cl_compute_kind cl_compute_kind_by_name(const char *);	/* 0: none */

/*
 * The forms of the kernel that this processor can run, the best first: NULL
 * past the last.  They differ in speed alone.
 */
const char	*cl_compute_forms(size_t i);

/* With the best form. */
struct cl_compute	*cl_compute_new(enum cl_compute_kind, uint64_t seed,
			    struct cl_err *);

/* Another form, before anything is computed; CL_EINVAL if not usable here. */
int	cl_compute_set_form(struct cl_compute *, const char *, struct cl_err *);

/* The form in use; NULL where the kind is not the kernel. */
const char	*cl_compute_form(const struct cl_compute *);

/* Pass over an expert.  Returns its checksum, for cl_compute_chain(). */
uint64_t	cl_compute_expert(const struct cl_compute *, uint32_t layer,
		    uint32_t expert, const struct cl_compute_slab *,
		    size_t nslabs);

/* The checksum of a run that was run before this expert. */
uint64_t	cl_compute_chain(uint64_t run, uint64_t expert);

/* Keep the processor busy for ns; returns what it took. */
uint64_t	cl_compute_busy(uint64_t ns);

void		cl_compute_free(struct cl_compute *);

#endif /* CL_COMPUTE_H */
