#ifndef CL_PREDICT_H
#define CL_PREDICT_H

/*
 * Which experts of a layer a token will choose, foretold before the layer is
 * reached; knows rules, scores and choices, and no cache.  What it foretells
 * depends on the trace and the options alone, and on the plain choice, however
 * experts are routed in the end.
 *
 *	previous	what the last token of the same sequence chose in that
 *			layer; nothing where there was none.
 *	popular		what was chosen most often there so far, ties to the
 *			lower expert; nothing that was never chosen.
 *	ahead		the first choices by the layer's rule from its forecast;
 *			nothing without one, nor in a layer whose experts are
 *			not chosen by scores.
 *	oracle		the truth, of which each expert is kept with a
 *			probability, by a seeded hash of token, layer and
 *			expert.
 *
 * At most CL_PREDICT_SEQUENCES sequences are remembered: of those that are
 * equal modulo that number, the one that was told of last.  One thread.
 */

#include <stdbool.h>
#include <stdint.h>

struct cl_err;
struct cl_predict;
struct cl_rule;

#define CL_PREDICT_SEQUENCES	1024u
#define CL_PREDICT_SURE		1000000u	/* a recall of 1 */

enum cl_predict_kind {
	CL_PREDICT_OFF,
	CL_PREDICT_PREVIOUS,
	CL_PREDICT_POPULAR,
	CL_PREDICT_AHEAD,
	CL_PREDICT_ORACLE
};

struct cl_predict_options {
	enum cl_predict_kind kind;
	uint32_t	 width;		/* of a token and layer; 0: its k */
	uint32_t	 recall;	/* the oracle's, of CL_PREDICT_SURE */
	uint64_t	 seed;
};

/* A layer, which is borrowed. */
struct cl_predict_layer {
	uint32_t	 number;	/* absolute */
	const struct cl_rule *rule;	/* with its experts, and its k */
};

/* What is known of a token in a layer, foretold or told. */
struct cl_predict_cell {
	uint32_t	 seq;
	uint64_t	 token;		/* its number in the trace */
	const uint16_t	*ids;		/* what it chose there, by rank */
	uint32_t	 n;
	const float	*forecast;	/* or NULL */
};

/* "off", "previous", ... "oracle:recall=0.9"; kind and recall are set. */
int	cl_predict_parse(const char *, struct cl_predict_options *,
	    struct cl_err *);

#define CL_PREDICT_TEXT		64

/* The one text of it, with every parameter. */
const char	*cl_predict_text(const struct cl_predict_options *,
		    char buf[CL_PREDICT_TEXT]);

struct cl_predict	*cl_predict_new(const struct cl_predict_options *,
			    const struct cl_predict_layer *, uint32_t nlayers,
			    struct cl_err *);

/* How many experts at most are foretold for a token in layer i. */
uint32_t	cl_predict_width(const struct cl_predict *, uint32_t i);

/* Foretell layer i of a token: distinct experts by rank; how many. */
uint32_t	cl_predict_choose(struct cl_predict *, uint32_t i,
		    const struct cl_predict_cell *, uint16_t *ids);

/* The token has been through layer i. */
void	cl_predict_tell(struct cl_predict *, uint32_t i,
	    const struct cl_predict_cell *);

/* Sequences have ended: the same numbers are others from now on. */
void	cl_predict_forget(struct cl_predict *);

void	cl_predict_free(struct cl_predict *);		/* NULL is legal */

#endif /* CL_PREDICT_H */
