#ifndef CL_TAP_H
#define CL_TAP_H

/*
 * Runs a model in whatever libllama the user has and taps its router: for
 * each batch decoded, the raw scores of all experts of every MoE layer, the
 * experts that the engine chose, and the rule that the graph applies.  No
 * llama header is used and nothing is linked: the library is opened at run
 * time, its parameter structs travel as opaque blobs, and the graph's
 * evaluation callback is caught by defining the function that installs it
 * (reference: llama.cpp src/llama-graph.cpp, build_moe_ffn; the callback,
 * ggml/src/ggml-backend.cpp).  What is assumed of a layout is checked, and a
 * release where it does not hold is refused by its name.
 *
 * The executable must export ggml_backend_sched_set_eval_callback (the
 * Makefile links cl-trace so).  libllama keeps state of its process: one tap
 * at a time, used by the thread that opened it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cl_err;
struct cl_rule;
struct cl_tap;

struct cl_tap_options {
	/*
	 * Where to look for libllama, in this order, until NULL: a library, or
	 * a directory that holds one.  With none of them there, the loader's
	 * own path.  A place named by `must` (also in the list) that holds
	 * none is an error, not a reason to look further.
	 */
	const char *const *places;
	const char	*must;		/* or NULL */
	uint32_t	 nctx;		/* positions, shared evenly by nseq;
					   0: cl_tap_context will say */
	uint32_t	 nbatch;	/* most tokens a decode call */
	uint32_t	 nubatch;	/* most tokens a graph */
	uint32_t	 nseq;		/* sequences alive at once */
	uint32_t	 nthreads;
	bool		 capture;	/* from the start: see below */
	/*
	 * Settings of the model, refused by a release where their place is
	 * not known, or where they turn out not to take effect.
	 */
	bool		 has_gpu_layers; /* else what the release does */
	uint32_t	 gpu_layers;	/* at most; up to INT32_MAX */
	bool		 no_repack;	/* run weights as the file has them */
	bool		 no_flash_attn;	/* attention by plain products */
};

struct cl_tap_token {
	int32_t		 token;
	uint32_t	 pos;
	uint32_t	 seq;		/* < nseq */
};

/* One captured layer of one decode: a row for each token of the batch. */
struct cl_tap_layer {
	uint32_t	 layer;		/* absolute block number */
	uint32_t	 nexperts;
	uint32_t	 k;
	const float	*scores;	/* n x nexperts, raw, in batch order */
	const uint16_t	*ids;		/* n x k, by rank */
};

/*
 * The model at path in the first libllama found, ready to decode; or NULL.
 * nbatch is lowered to nctx, and nubatch to nbatch.  An error names what it
 * is about, the library or the model, and gives libllama's own reason.  The
 * library stays in the process after cl_tap_close: it cannot be unloaded.
 */
struct cl_tap	*cl_tap_open(const struct cl_tap_options *, const char *path,
		    struct cl_err *);

/*
 * Make the context of a tap that was opened without one, for whoever has to
 * tokenise before it is known how many positions are needed.  A tap for which
 * this failed can only be closed.
 */
int	cl_tap_context(struct cl_tap *, uint32_t nctx, struct cl_err *);

/* The library and its release, "libllama v0.4.0"; valid until the close. */
const char	*cl_tap_engine(const struct cl_tap *);

/*
 * The limits in force: positions (0: no context yet), tokens of a graph,
 * sequences.
 */
uint32_t	 cl_tap_nctx(const struct cl_tap *);
uint32_t	 cl_tap_nubatch(const struct cl_tap *);
uint32_t	 cl_tap_nseq(const struct cl_tap *);

/*
 * The text as tokens, with the special ones that the model wants around it;
 * what looks like one in the text is one only where it holds marks.  Caller
 * frees.
 */
int	cl_tap_tokenize(struct cl_tap *, const char *text, size_t nbytes,
	    bool marks, int32_t **tokens, size_t *ntokens, struct cl_err *);

/*
 * The text as a user's message, with the beginning of an answer behind it, as
 * the model's own template has it; caller frees, *n leaves out the final NUL.
 * It holds marks, which are tokens to cl_tap_tokenize with marks set.
 * CL_ENOTSUP where the model has no template, or libllama does not know it.
 */
int	cl_tap_chat(struct cl_tap *, const char *text, size_t nbytes,
	    char **chat, size_t *n, struct cl_err *);

/*
 * Capture the decodes that follow, or only run them, as if there were no tap:
 * for what is not to be recorded, and to measure what capturing costs.
 */
void	cl_tap_capture(struct cl_tap *, bool);

/* Is the token an end of generation? */
bool	cl_tap_is_end(const struct cl_tap *, int32_t token);

/*
 * Run one batch of 1 to nbatch tokens.  What it captured is valid until the
 * next call; all tokens ask for output, so no layer is cropped by the engine,
 * and every layer has a row for each token however the engine regrouped them.
 * CL_ENOTSUP where the graph is not understood.  A tap that has failed here
 * can only be closed.
 */
int	cl_tap_decode(struct cl_tap *, const struct cl_tap_token *, uint32_t n,
	    struct cl_err *);

/* The layers captured by the last decode, by ascending block number. */
uint32_t	cl_tap_nlayers(const struct cl_tap *);
const struct cl_tap_layer *cl_tap_layer(const struct cl_tap *, uint32_t i);

/*
 * The rule of the i-th of them as its graph applied it; nothing in it is
 * assumed.  Valid until the tap is closed.
 */
const struct cl_rule *cl_tap_rule(const struct cl_tap *, uint32_t i);

/*
 * Which graph ran token i of the last decode, from 0.  The engine may run a
 * batch as several graphs, and then evaluates the layers once for each.
 */
uint32_t	cl_tap_graph(const struct cl_tap *, uint32_t i);

/* The output row of token i of the last batch, cl_tap_nvocab() floats. */
const float	*cl_tap_output(struct cl_tap *, uint32_t i, struct cl_err *);
uint32_t	cl_tap_nvocab(const struct cl_tap *);

/* Forget a sequence, so that its number and its positions can be used anew. */
void	cl_tap_forget(struct cl_tap *, uint32_t seq);

/* Tensors copied out of graphs so far. */
uint64_t	cl_tap_captured(const struct cl_tap *);

void	cl_tap_close(struct cl_tap *);			/* NULL is legal */

#endif /* CL_TAP_H */
