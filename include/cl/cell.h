#ifndef CL_CELL_H
#define CL_CELL_H

/*
 * One value out of a run, be it a condition, a counter or a measurement: what
 * all renderers and the comparison deal in.  A plain value that borrows its
 * text from the run.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cl/stats.h"

struct cl_dst;
struct cl_json;

struct cl_cell {
	enum cl_stats_type	 type;	/* NONE: there is no value */
	uint64_t		 u;
	double			 f;
	const char		*s;
};

/* From a condition; NULL gives none. */
struct cl_cell	cl_cell_cond(const struct cl_stats_cond *);

/* The same type and bits; none is the same as none. */
bool	cl_cell_equal(const struct cl_cell *, const struct cl_cell *);

/* As a number, for ratios; false where it is none. */
bool	cl_cell_number(const struct cl_cell *, double *);

/* Is there nothing, or a number that is 0? */
bool	cl_cell_zero(const struct cl_cell *);

/* Exact numbers, hashes as 16 hex digits, null for none and no number. */
void	cl_cell_json(const struct cl_cell *, struct cl_json *,
	    const char *key);

/* The same for tables of tabs and lines; none is empty, text is escaped. */
void	cl_cell_tsv(const struct cl_cell *, struct cl_dst *);

/* Text as cl_text_escape() has it. */
void	cl_cell_tsv_text(struct cl_dst *, const char *);

/* For people: counts in threes, "-" for none; cut to cap; returns buf. */
const char	*cl_cell_text(const struct cl_cell *, char *buf, size_t cap);

#endif /* CL_CELL_H */
