#ifndef CL_SYNTH_H
#define CL_SYNTH_H

/*
 * The synthetic router: scores for the geometry of a model from no model at
 * all, to the byte the same on every machine.  What comes of it is labelled
 * SYNTHETIC wherever it goes.  In layers with experts that are not extra,
 *
 *	score = popularity + topic bonus + noise
 *
 * in double, left to right, rounded to float once.
 *
 * fold(h, v) is the first output of splitmix64 (cl/rng.h) from the state
 * h xor v, and h0 = fold(seed, 0).  Streams are numbered: 1 noise, 2 noise of
 * the forecast, 3 ranks, 4 topics, 5 order of topics.
 *
 * Popularity: -3 x locality x ln(rank + 1) / ln(E), to the nearest 2^-12, up
 * on a tie; 0 where E is 1.  Ranks are a permutation: rank[e] = e, then for i
 * from E - 1 down to 1 rank[i] and rank[cl_rng_below(i + 1)] change places,
 * from the state fold(fold(h0, 3), layer).
 *
 * Bonus: topic 0 to 7 adds 1.5 to each of min(12, E) draws cl_rng_below(E) from
 * the state fold(fold(fold(h0, 4), layer), topic); an expert drawn twice has
 * 3.  One topic holds for 16 tokens, a segment, in all layers.  With drift,
 * even segments have topic fold(fold(h0, 5), segment) mod 8; odd ones take
 * from those topics that neither neighbour has, ascending, the one at that
 * hash modulo their number, so that each segment's topic is new.
 *
 * Noise, of about the normal distribution: (u1 + u2 + u3 + u4 - 2) x 1.7320508,
 * the bracket exact and rounded once; u1 to u4 are the next cl_rng_unit() from
 * the state fold(fold(fold(fold(h0, stream), layer), token), expert).
 *
 * Forecast: popularity + bonus + rho x noise + sqrt(1 - rho^2) x noise of
 * stream 2.
 *
 * Tokens that route as noise have neither popularity nor bonus, and a forecast
 * that is noise of stream 2 alone.
 *
 * Rows may be made by any number of threads; writing is for one.
 */

#include <stdbool.h>
#include <stdint.h>

#include "cl/trace.h"

struct cl_err;
struct cl_model;
struct cl_synth;
struct cl_trace_writer;

#define CL_SYNTH_TOKENS_MAX	UINT32_MAX	/* positions are 32 bits */
#define CL_SYNTH_LOCALITY_MAX	100.0	/* keeps popularity exact in a float */

enum cl_synth_mode {
	CL_SYNTH_DRIFT = 1,		/* a new topic every 16 tokens */
	CL_SYNTH_FIXED = 2,		/* topic 0 always */
	CL_SYNTH_NOISE = 3		/* noise only */
};

struct cl_synth_options {
	enum cl_synth_mode mode;
	uint64_t	 ntokens;	/* 1 to CL_SYNTH_TOKENS_MAX */
	uint64_t	 seed;
	double		 locality;	/* 0 to CL_SYNTH_LOCALITY_MAX */
	double		 predict_corr;	/* rho, -1 to 1 */
	bool		 forecast;	/* make the second row of scores */
	/*
	 * Tokens from shift_at on, shift_len of them or up to the end, route
	 * as noise, in a trace that is else fixed; 0: none.
	 */
	uint64_t	 shift_at;
	uint64_t	 shift_len;
};

/* 1,024 tokens of drift, locality 1, forecasts with rho 0.8, seed 1. */
void	cl_synth_defaults(struct cl_synth_options *);

/* CL_OK, or CL_EINVAL naming the first bound above that is broken. */
int	cl_synth_check(const struct cl_synth_options *, struct cl_err *);

/* A router for the layers of a model, which is not needed afterwards. */
struct cl_synth	*cl_synth_new(const struct cl_model *,
		    const struct cl_synth_options *, struct cl_err *);

/*
 * The scores of one token, counted from 0, in a layer that has experts: E of
 * them; with forecast unless that is NULL.  Needs no other row made before.
 */
void	cl_synth_row(const struct cl_synth *, uint64_t token, uint32_t layer,
	    float *scores, float *forecast);

/*
 * The head of a SYNTHETIC trace.  It owns the model from now on (which is
 * freed on failure), and makes its rules plain: gate, normalisation, scale and
 * k stay as they are, biases and groups go, and selection is by the gates.
 */
struct cl_trace_head	*cl_synth_head(struct cl_model *,
			    const struct cl_synth_options *,
			    enum cl_trace_scores, struct cl_err *);

/*
 * Write one more token: all of them are one sequence, each a pass of its own,
 * decoded.  CL_END, with nothing written, after the last.
 */
int	cl_synth_write(struct cl_synth *, struct cl_trace_writer *,
	    struct cl_err *);

void	cl_synth_free(struct cl_synth *);		/* NULL is legal */

/* "drift" ...; NULL for a number that is none; 0 for a name that is none. */
const char	*cl_synth_mode_name(enum cl_synth_mode);
enum cl_synth_mode cl_synth_mode_by_name(const char *);

#endif /* CL_SYNTH_H */
