#ifndef CL_OPT_H
#define CL_OPT_H

/*
 * The most hits that a cache of one capacity can have of a sequence of
 * accesses, without a cache and without knowing what is to come: one that
 * keeps whatever it misses, as belady under serial does, and one that may
 * refuse it.  Not only their number is the same, but which accesses they are.
 * Who was thrown out is not known.  Keys are dense numbers from 0, all of one
 * size.  Memory is about 12 bytes a key, however many accesses there are;
 * nothing is allocated once it is open.  One thread.
 */

#include <stdint.h>

struct cl_err;
struct cl_opt;

struct cl_opt_counts {
	uint64_t	 accesses;
	uint64_t	 cold;		/* the first of their key */
	uint64_t	 hits_demand;
	uint64_t	 hits_bypass;
};

/* Of 1 to 2^27 - 1 keys and at least 1 slot; NULL: CL_ENOMEM. */
struct cl_opt	*cl_opt_new(uint32_t nkeys, uint32_t capacity,
		    struct cl_err *);

/* n accesses, one after another. */
void	cl_opt_use(struct cl_opt *, const uint32_t *keys, uint32_t n);

/* Counts start anew, and what is held stays: the warm-up is over. */
void	cl_opt_reset(struct cl_opt *);

void	cl_opt_counts(const struct cl_opt *, struct cl_opt_counts *);

void	cl_opt_free(struct cl_opt *);			/* NULL is legal */

#endif /* CL_OPT_H */
