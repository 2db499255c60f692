#ifndef CL_SMART_H
#define CL_SMART_H

/*
 * Cache-aware routing, with its price: experts that are not resident give way
 * to some that are, or are left out.  Knows scores and rules, and of a cache
 * only which experts are resident.
 *
 *	delta:D		An expert that is not resident gives way to the
 *			resident one that scores most, of those not chosen,
 *			where that is at most D less.
 *	rank:M,keep=J	Experts that are not resident give way, but for the
 *			first J, to residents among the first M by the rule,
 *			in their order, while there are any.
 *	prior:L		The rule chooses anew from scores of which those of
 *			residents are raised by L times the mean, over the
 *			tokens so far in that layer, this one included, of
 *			largest minus smallest score (arXiv 2412.00099).
 *	drop:F		Afterwards: an expert that is not resident, and whose
 *			share of the gates of the token's choice is less than
 *			F / k, is left out.
 *
 * All go through a token's choice by rank; ties go to the lower expert.
 * Scores are as recorded, before any gate or bias.  A gate is what the rule
 * makes of a score before it is divided by a sum or scaled; where the rule
 * takes a softmax over the chosen, one over all.  The price is that of
 * replaying one recording: what would have been chosen afterwards, had the
 * engine really done so, is not in it.  One thread.
 */

#include <stdbool.h>
#include <stdint.h>

struct cl_err;
struct cl_rule;
struct cl_smart;

enum cl_smart_kind {
	CL_SMART_OFF,
	CL_SMART_DELTA,
	CL_SMART_RANK,
	CL_SMART_PRIOR
};

struct cl_smart_options {
	enum cl_smart_kind kind;
	double		 value;		/* D or L */
	uint32_t	 among;		/* M */
	uint32_t	 keep;		/* J */
	double		 drop;		/* F; 0: nothing is left out */
};

/* What it cost so far, summed in the order of tokens. */
struct cl_smart_price {
	uint64_t	 choices;	/* of the plain rule */
	uint64_t	 substituted;
	uint64_t	 dropped;
	double		 dropped_mass;	/* gates lost by both */
	double		 max_delta;	/* largest gap of scores accepted */
	double		 gate_total;	/* gates of the plain choice */
};

#define CL_SMART_TEXT	96

/* "off", "delta:0.5", "rank:12,keep=2", "prior:0.4"; sets all but drop. */
int	cl_smart_parse(const char *, struct cl_smart_options *,
	    struct cl_err *);
const char	*cl_smart_text(const struct cl_smart_options *,
		    char buf[CL_SMART_TEXT]);

/* Is any choice to be changed? */
bool		 cl_smart_on(const struct cl_smart_options *);

/* For layers with these rules, which are borrowed. */
struct cl_smart	*cl_smart_new(const struct cl_smart_options *,
		    const struct cl_rule *const *rules, uint32_t nlayers,
		    struct cl_err *);

/*
 * What a token uses of layer i instead of its plain choice: n ids by rank,
 * from scores of all experts, where resident[expert] is not 0 for those that
 * are.  How many of them are used; those that were left out stand behind, by
 * rank.  Adds to the price.
 */
uint32_t	cl_smart_choose(struct cl_smart *, uint32_t i,
		    const float *scores, const uint16_t *plain, uint32_t n,
		    const uint8_t *resident, uint16_t *ids,
		    struct cl_smart_price *);

void	cl_smart_free(struct cl_smart *);		/* NULL is legal */

#endif /* CL_SMART_H */
