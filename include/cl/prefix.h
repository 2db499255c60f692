#ifndef CL_PREFIX_H
#define CL_PREFIX_H

/*
 * How much of each sequence begins as an earlier one did: shared prompts,
 * templates, and whole repetitions, which make a corpus look more local than
 * what it stands for.  Of all prefixes a hash is remembered, up to
 * CL_PREFIX_MAX of them.  One thread.
 */

#include <stdbool.h>
#include <stdint.h>

struct cl_err;
struct cl_prefix;
struct cl_stats_writer;

#define CL_PREFIX_MAX		(1u << 20)
#define CL_PREFIX_SEQUENCES	1024u	/* at a time, told apart modulo this */

struct cl_prefix	*cl_prefix_new(struct cl_err *);

/*
 * The next token of a sequence, at its position; what is anything that is
 * equal where tokens are.
 */
void	cl_prefix_add(struct cl_prefix *, uint32_t seq, uint32_t pos,
	    uint64_t what);

/*
 * Counts start anew.  Sequences that have begun are remembered as far as they
 * got, and are not counted.
 */
void	cl_prefix_reset(struct cl_prefix *);

/* The trace is over: the table prefixes of cl-stats(5). */
int	cl_prefix_write(struct cl_prefix *, struct cl_stats_writer *,
	    struct cl_err *);

void	cl_prefix_free(struct cl_prefix *);		/* NULL is legal */

#endif /* CL_PREFIX_H */
