#ifndef IMPORT_TSV_INT_H
#define IMPORT_TSV_INT_H

/*
 * What the parts of import_tsv share: lines, fields, rows, the # lines as a
 * head, and a place where text waits until all of it is known.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cl/trace.h"

struct cl_dst;
struct cl_err;
struct cl_import_tsv;
struct cl_model;
struct cl_src;

#define TSV_LINE_MAX	(1u << 20)	/* twice 16384 scores, and more */
#define TSV_FIELDS_MAX	64		/* 10 columns are known */

/* Lines of a source, without their ends; the last one borrows from it. */
struct tsv_lines {
	struct cl_src	*src;		/* borrowed */
	uint64_t	 no;		/* of the line at hand, from 1 */
	size_t		 taken;		/* bytes to consume before the next */
	bool		 again;		/* the next line is the one at hand */
	const char	*p;
	size_t		 n;
};

struct tsv_field {
	const char	*p;
	size_t		 n;
};

/* The next line, or CL_END. */
int	cl_import_line(struct tsv_lines *, struct cl_err *);

/* A failure at the line at hand: "NAME: line 7: " and why. */
int	cl_import_fail(const struct tsv_lines *, struct cl_err *,
	    const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Cut at tabs; more fields than max are CL_EFORMAT. */
int	cl_import_split(const struct tsv_lines *, const char *p, size_t n,
	    struct tsv_field *, size_t max, size_t *nfields, struct cl_err *);

bool	cl_import_is(const struct tsv_field *, const char *);

/* A decimal number of at most hi; or a hash of 16 hexadecimal digits. */
bool	cl_import_u64(const struct tsv_field *, uint64_t hi, uint64_t *);
bool	cl_import_hex(const struct tsv_field *, uint64_t *);

/* Numbers between commas; *v grows to them.  false: not so, or above max. */
bool	cl_import_floats(const struct tsv_field *, float *v, uint32_t max,
	    uint32_t *n);
bool	cl_import_ids(const struct tsv_field *, uint16_t *v, uint32_t max,
	    uint32_t *n);

/* Take the next item between commas off rest; false behind the last. */
bool	cl_import_item(struct tsv_field *rest, struct tsv_field *item);

/* How many items between commas. */
uint32_t	cl_import_count(const struct tsv_field *);

/* A header line: which field holds what; -1 for a column that is not there. */
enum tsv_column {
	TSV_SEQ, TSV_POS, TSV_TOKEN, TSV_PHASE, TSV_PASS, TSV_LAYER,
	TSV_EXPERTS, TSV_WEIGHTS, TSV_SCORES, TSV_FORECAST, TSV_COLUMNS
};

struct tsv_columns {
	int	 at[TSV_COLUMNS];
	size_t	 nfields;
};

/* One row, its lists not decoded yet. */
struct tsv_row {
	uint32_t	 seq;		/* 0 where there is no such column */
	uint32_t	 pos;
	int32_t		 token;
	bool		 decode;
	bool		 padding;
	uint64_t	 pass;
	bool		 has_layer;
	uint32_t	 layer;
	/* p is NULL where there is none. */
	struct tsv_field experts;
	struct tsv_field weights;
	struct tsv_field scores;
	struct tsv_field forecast;
};

int	cl_import_columns(const struct tsv_lines *, struct tsv_columns *,
	    struct cl_err *);
int	cl_import_row(const struct tsv_lines *, const struct tsv_columns *,
	    struct tsv_row *, struct cl_err *);

/* The # lines of a dumped trace. */
struct tsv_head {
	struct cl_trace_head *head;	/* its model is NULL before # model */
	uint32_t	 nlayers;	/* # layer lines so far */
	uint32_t	 nsequences;	/* # sequence lines so far */
	unsigned	 seen;		/* of those that must be there once */
	char		*name;		/* of the last sequence */
	enum cl_trace_end end;		/* 0 before # end */
	uint64_t	 mismatches;
	uint64_t	 nrows;		/* as # rows has it */
	uint64_t	 sum;
};

enum tsv_line {				/* what a # line turned out to be */
	TSV_OF_HEAD,
	TSV_SEQUENCE,
	TSV_END,
	TSV_ROWS
};

/* The # line at hand, split and taken in. */
int	cl_import_head(const struct tsv_lines *, struct tsv_head *,
	    enum tsv_line *, struct cl_err *);

/* Nothing that a head needs is missing. */
int	cl_import_head_check(const struct tsv_lines *,
	    const struct tsv_head *, struct cl_err *);

void	cl_import_head_free(struct tsv_head *);

/* Text in memory, compressed: written first, then read once. */
struct tsv_spool;

struct tsv_spool	*cl_import_spool_new(struct cl_err *);
void	cl_import_spool_line(struct tsv_spool *, const char *, size_t);

/* The end of writing; *src is then the caller's, and outlives no spool. */
int	cl_import_spool_read(struct tsv_spool *, const char *name,
	    struct cl_src **src, struct cl_err *);
void	cl_import_spool_free(struct tsv_spool *);	/* NULL is legal */

/* What plain rows say about each layer. */
struct tsv_found {
	struct tsv_found_layer {
		uint32_t	 experts;	/* the greatest, and one */
		uint32_t	 scores;	/* how many, 0: none seen */
		uint32_t	 used;		/* most in a row, 0: none */
		bool		 row;		/* there is one */
	}		*layers;
	size_t		 cap;
	uint32_t	 nlayers;
};

/* Is the line at hand one of #, and does a dumped trace begin with it? */
bool	cl_import_is_comment(const struct tsv_lines *);
bool	cl_import_is_dumped(const struct tsv_lines *);

/* Hold back a dumped trace: is it whole, and are its lines what they were? */
int	cl_import_scan_dumped(struct tsv_lines *, struct tsv_spool *,
	    bool *edited, struct cl_err *);

/* Hold back plain rows: what do they speak of? */
int	cl_import_scan_plain(struct tsv_lines *, struct tsv_spool *,
	    struct tsv_found *, struct cl_err *);

/* A model for plain rows: from the options, else from what was found. */
struct cl_model	*cl_import_model(const struct tsv_lines *,
		    const struct cl_import_tsv *, const struct tsv_found *,
		    struct cl_err *);

#endif /* IMPORT_TSV_INT_H */
