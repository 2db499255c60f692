#ifndef CL_TRACE_H
#define CL_TRACE_H

/*
 * trace/: router traces: read, written, imported, exported, made.
 *
 * A router trace in memory: its head, and blocks of tokens with a column per
 * layer.  Shared by whoever reads or makes one; the bytes are cl-trace(5).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cl_err;
struct cl_model;

#define CL_TRACE_BLOCK_MAX	4096	/* tokens */
#define CL_TRACE_BLOCK_LIVE	32	/* what a recorder holds back at most */
#define CL_TRACE_BLOCK_BULK	256	/* where nobody waits for a token */
#define CL_TRACE_NOTES_MAX	256

enum cl_trace_origin {			/* numbered as in cl-trace(5) */
	CL_ORIGIN_RECORDED = 1,
	CL_ORIGIN_SYNTHETIC = 2,
	CL_ORIGIN_IMPORTED = 3,
	CL_ORIGIN_EDITED = 4
};

enum cl_trace_scores {
	CL_SCORES_NONE = 0,
	CL_SCORES_F16 = 1,
	CL_SCORES_F32 = 2
};

enum cl_trace_end {
	CL_END_COMPLETE = 1,
	CL_END_INCOMPLETE = 2,		/* the writer's own input stopped */
	CL_END_INTERRUPTED = 3		/* a signal stopped the writer */
};

struct cl_trace_note {
	char	*key;
	char	*value;
};

/* Owns all it points to. */
struct cl_trace_head {
	enum cl_trace_origin origin;
	enum cl_trace_scores scores;
	bool		 tokens;	/* token ids are held */
	bool		 weights;	/* explicit cells hold weights */
	bool		 forecast;	/* a second row of scores is held */
	uint32_t	 block_tokens;
	uint32_t	 nnotes;
	struct cl_trace_note *notes;
	struct cl_model	*model;
};

struct cl_trace_token {
	uint64_t	 pass;
	uint32_t	 seq;
	uint32_t	 pos;
	int32_t		 token;		/* -1: unknown */
	bool		 decode;	/* else prefill */
	bool		 padding;
	bool		 begins;	/* the first token of its pass */
};

/* What one layer did with the tokens of a block; t counts tokens. */
struct cl_trace_column {
	uint32_t	 layer;
	uint32_t	 nexperts;
	uint32_t	 k;
	/*
	 * The experts of token t by rank: ids[first[t]] to ids[first[t + 1]],
	 * that not included; none where the layer was not evaluated for t.
	 */
	const uint32_t	*first;
	const uint16_t	*ids;
	const float	*weights;	/* as ids; NULL: unknown or unasked */
	/* Scores of token t at scores + nexperts x row[t]; NULL: not held. */
	const float	*scores;
	const uint32_t	*row;
	const float	*forecast;	/* the same with forecast_row */
	const uint32_t	*forecast_row;	/* UINT32_MAX: t has none */
	const uint8_t	*given;		/* of token t: its ids are explicit */
};

struct cl_trace_block {
	uint32_t	 ntokens;
	const struct cl_trace_token *tokens;
	uint32_t	 ncolumns;	/* the layers of cl_trace_layers() */
	const struct cl_trace_column *columns;
};

struct cl_trace_counts {		/* the trailer */
	enum cl_trace_end end;
	uint64_t	 records;
	uint64_t	 sequences;
	uint64_t	 tokens;
	uint64_t	 passes;
	uint64_t	 cells;
	uint64_t	 choices;	/* experts chosen, over all cells */
	uint64_t	 mismatches;
	uint64_t	 routing;	/* routing fingerprint */
};

/* An empty head that owns model from now on; NULL (model freed) on failure. */
struct cl_trace_head	*cl_trace_head_new(struct cl_model *, struct cl_err *);

/* Add a note, or replace the value of one that is there. */
int	cl_trace_head_note(struct cl_trace_head *, const char *key,
	    const char *value, struct cl_err *);

/* The value of a note, or NULL. */
const char	*cl_trace_head_find(const struct cl_trace_head *,
		    const char *key);

/* "key=value key=value" of all notes, cut to cap with "..." at the end. */
const char	*cl_trace_head_text(const struct cl_trace_head *, char *buf,
		    size_t cap);

void	cl_trace_head_free(struct cl_trace_head *);	/* NULL is legal */

/*
 * The layers that have a column, ascending: those with experts that are not
 * extra.  *layers is the caller's to free.
 */
int	cl_trace_layers(const struct cl_model *, uint32_t **layers,
	    uint32_t *nlayers, struct cl_err *);

/* "recorded", "SYNTHETIC", "imported", "edited"; NULL for no such number. */
const char	*cl_trace_origin_name(enum cl_trace_origin);
const char	*cl_trace_end_name(enum cl_trace_end);	/* "complete" ... */
const char	*cl_trace_scores_name(enum cl_trace_scores); /* "ids", .. */

#endif /* CL_TRACE_H */
