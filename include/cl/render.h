#ifndef CL_RENDER_H
#define CL_RENDER_H

/*
 * Runs made readable: as text for people, as a table of tabs and lines for
 * awk, as JSON; the forms are those of cl-report(1).  A renderer takes runs
 * one at a time and prints each at once onto a sink that it borrows.  One
 * thread.
 */

#include <stdbool.h>

struct cl_dst;
struct cl_err;
struct cl_render;
struct cl_run;

struct cl_render_options {
	bool	 bold;			/* the sink is a terminal for people */
	bool	 all;			/* long tables are not shortened */
	bool	 sweep;			/* nothing but all runs as a matrix */
	const char *table;		/* nothing but that one; NULL: all */
};

/* "text", "tsv", "json", NULL: a form is known by its place here. */
extern const char *const cl_render_forms[];

/* Prints what stands before the first run. */
struct cl_render	*cl_render_new(unsigned form, struct cl_dst *,
			    const struct cl_render_options *,
			    struct cl_err *);

/* A run as far as it was gathered; one that is not whole is marked so. */
int	cl_render_run(struct cl_render *, const struct cl_run *,
	    struct cl_err *);

/* What stands behind the last run, such as a summary. */
int	cl_render_end(struct cl_render *, struct cl_err *);

void	cl_render_free(struct cl_render *);		/* NULL is legal */

#endif /* CL_RENDER_H */
