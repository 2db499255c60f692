#ifndef CL_STACK_H
#define CL_STACK_H

/*
 * The caches of all capacities at once, for a policy that evicts by a total
 * order of its own: what a cache of C slots holds is what one of C - 1 holds
 * and one key more, so that all are one stack (Mattson et al. 1970,
 * doi:10.1147/sj.92.0078).  Under the contract event it stays so: pinned
 * members and what is not kept for want of slots are part of it (stack.c).
 * Keys are dense numbers from 0.  Memory is 24 bytes a key and 29 a member of
 * the largest event; nothing is allocated once it is open.  One thread.
 */

#include <stdint.h>

struct cl_err;
struct cl_stack;

/*
 * The stack of capacities 1 to depth, which is at most nkeys, for events of at
 * most nevent keys.  NULL: CL_ENOMEM.
 */
struct cl_stack	*cl_stack_new(uint32_t nkeys, uint32_t depth, uint32_t nevent,
		    struct cl_err *);

/*
 * An event of n distinct keys less base, each in all caches that can keep it.
 * worth[i] is what key i is worth from now on; of what must make room, caches
 * keep what is worth more.  No two keys may be worth the same.  place[i] is the
 * least capacity that held it before; 0: none up to the depth.
 */
void	cl_stack_event(struct cl_stack *, const uint32_t *keys,
	    const uint64_t *worth, uint32_t n, uint32_t base, uint32_t *place);

/*
 * Look deeper from now on.  What the largest cache holds is the caller's to
 * append, and what that is worth: a key (no base is taken off) that is not
 * there yet is placed at the next capacity.
 */
void	cl_stack_deepen(struct cl_stack *, uint32_t depth);
void	cl_stack_append(struct cl_stack *, uint32_t key, uint64_t worth);

/* Look no deeper from now on. */
void	cl_stack_cut(struct cl_stack *, uint32_t depth);

void	cl_stack_free(struct cl_stack *);		/* NULL is legal */

#endif /* CL_STACK_H */
