#ifndef CL_FIGURE_H
#define CL_FIGURE_H

/*
 * Figures as people read them.  A ratio never says more than it knows: what
 * is not all is never shown as 100%, what is not nothing never as 0, and where
 * there is no base there is no ratio.  Cannot fail.
 */

#include <stdbool.h>
#include <stdint.h>

#define CL_FIGURE_MAX	40

/* *r = part / whole; false, and *r = 0, where whole is 0. */
bool	cl_figure_ratio(uint64_t part, uint64_t whole, double *r);

/* "75.00%"; "-" where whole is 0. */
const char	*cl_figure_percent(char buf[CL_FIGURE_MAX], uint64_t part,
		    uint64_t whole);

/* Nanoseconds: "812 ns", "81.2 us", "1.23 ms", "61.5 s". */
const char	*cl_figure_ns(char buf[CL_FIGURE_MAX], uint64_t ns);

/* n a second: "1234", "56.7", "0.123"; "-" where ns is 0. */
const char	*cl_figure_rate(char buf[CL_FIGURE_MAX], uint64_t n,
		    uint64_t ns);

/* b - a with its sign, exact: "+1,234"; "0". */
const char	*cl_figure_change(char buf[CL_FIGURE_MAX], uint64_t a,
		    uint64_t b);

/* (b - a) / a: "+12.50%", "" where they are the same, "new" where a is 0. */
const char	*cl_figure_relative(char buf[CL_FIGURE_MAX], double a,
		    double b);

#endif /* CL_FIGURE_H */
