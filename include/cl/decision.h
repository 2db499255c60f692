#ifndef CL_DECISION_H
#define CL_DECISION_H

/*
 * What became of one event, member by member, as the log of a stat stream has
 * it: the bytes are those of cl-stats(5), EVENTS record.  Plain memory, one
 * thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cl/cur.h"

struct cl_buf;
struct cl_err;

#define CL_DECISION_CLASS	3u	/* mask: hit, staged, cold, capacity */
#define CL_DECISION_NOT_KEPT	4u	/* added to it */
#define CL_DECISION_THREW	8u	/* somebody was thrown out for it */
#define CL_DECISION_LAYER_MAX	((UINT32_C(1) << 31) - 1)

struct cl_decision_victim {
	uint32_t	 layer;
	uint32_t	 expert;
};

/* A token whose choice routing changed. */
struct cl_decision_change {
	uint32_t	 token;		/* behind the first that is served */
	uint32_t	 n;		/* choices */
	uint32_t	 nused;		/* of these; the others were left out */
};

struct cl_decision {
	/* Where it stands, counted from the end of the warm-up, from 0. */
	uint64_t	 pass;
	uint64_t	 token;		/* the first that it serves */
	bool		 prefill;	/* of a prefill pass */
	uint32_t	 layer;
	uint32_t	 n;		/* members, by rank; 0 behind changes */
	const uint32_t	*expert;
	const uint8_t	*class;		/* and what is added to it */
	/* One for each member that threw somebody out, in their order. */
	const struct cl_decision_victim *victim;
	uint32_t	 nvictims;
	/*
	 * By token; of each n experts by rank that the rule chooses, then those
	 * that were chosen instead: nused that are used, the others by rank.
	 */
	const struct cl_decision_change *change;
	uint32_t	 nchanges;
	const uint16_t	*choice;
};

/* Where the last event of a log stood; filled with zero bytes at its start. */
struct cl_decision_place {
	uint64_t	 pass;
	uint64_t	 token;
};

/* A log as it is read; filled with zero bytes at first. */
struct cl_decision_log {
	struct cl_decision_place last;
	uint64_t	 n;		/* events so far */
	uint64_t	 left;		/* events of the part at hand */
	struct cl_cur	 cur;
	/* of the event at hand */
	uint32_t	*expert;
	size_t		 expert_cap;
	uint8_t		*class;
	size_t		 class_cap;
	struct cl_decision_victim *victim;
	size_t		 victim_cap;
	struct cl_decision_change *change;
	size_t		 change_cap;
	uint16_t	*choice;
	size_t		 nchoices;
	size_t		 choice_cap;
};

/* Append an event, of a member or change at least, not before *last. */
void	cl_decision_put(struct cl_buf *, struct cl_decision_place *last,
	    const struct cl_decision *);

/* The log of another run begins. */
void	cl_decision_log_begin(struct cl_decision_log *);

/* What nevents calls of cl_decision_put have appended; borrowed. */
void	cl_decision_log_bytes(struct cl_decision_log *, const void *,
	    size_t n, uint64_t nevents);

/*
 * The n bytes of an EVENTS record, borrowed until the last of its events has
 * been taken; and the next of these, which borrows from the log until the next
 * call.  It is CL_EFORMAT that breaks a rule of cl-stats(5), or is cut.
 */
int	cl_decision_log_part(struct cl_decision_log *, const void *, size_t n,
	    struct cl_err *);
int	cl_decision_log_take(struct cl_decision_log *, struct cl_decision *,
	    struct cl_err *);
void	cl_decision_log_free(struct cl_decision_log *);

/* Who was thrown out for member i, or NULL; *next is 0 at member 0. */
const struct cl_decision_victim	*cl_decision_victim(
				    const struct cl_decision *, uint32_t i,
				    uint32_t *next);

/* "hit", "staged", "cold", "capacity". */
const char	*cl_decision_class(uint8_t class);

/* The digest behind a token that uses these, its choice having been changed. */
uint64_t	cl_decision_digest_change(uint64_t digest, uint32_t layer,
		    const uint16_t *used, uint32_t n);

/* The digest of a run behind one more event: cl-stats(5), Digest. */
uint64_t	cl_decision_digest(uint64_t digest,
		    const struct cl_decision *);

#endif /* CL_DECISION_H */
