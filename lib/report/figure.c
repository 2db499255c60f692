/*
 * Numbers with units and signs.  Doubles are good enough for what is rounded
 * anyway; what claims to be exact is computed in integers.
 */

#include <math.h>
#include <stdio.h>

#include "cl/figure.h"
#include "cl/text.h"

bool
cl_figure_ratio(uint64_t part, uint64_t whole, double *r)
{

	*r = whole == 0 ? 0 : (double)part / (double)whole;
	return (whole != 0);
}

const char *
cl_figure_percent(char buf[CL_FIGURE_MAX], uint64_t part, uint64_t whole)
{
	double r;

	if (!cl_figure_ratio(part, whole, &r))
		return ("-");
	if (part > 0 && r < 0.0001)
		return ("<0.01%");
	if (part < whole && r > 0.9999)
		return (">99.99%");
	(void)snprintf(buf, CL_FIGURE_MAX, "%.2f%%", 100 * r);
	return (buf);
}

/* Three digits that count. */
static int
decimals(double v)
{

	return (v < 9.995 ? 2 : (v < 99.95 ? 1 : 0));
}

const char *
cl_figure_ns(char buf[CL_FIGURE_MAX], uint64_t ns)
{
	static const char *const unit[] = { "us", "ms", "s" };
	double v = (double)ns;
	int i = -1;

	if (ns < 1000) {
		(void)snprintf(buf, CL_FIGURE_MAX, "%u ns", (unsigned)ns);
		return (buf);
	}
	do {
		v /= 1000;
		i++;
	} while (v >= 999.5 && i < 2);
	(void)snprintf(buf, CL_FIGURE_MAX, "%.*f %s", decimals(v), v,
	    unit[i]);
	return (buf);
}

const char *
cl_figure_rate(char buf[CL_FIGURE_MAX], uint64_t n, uint64_t ns)
{
	double v;

	if (!cl_figure_ratio(n, ns, &v))
		return ("-");
	v *= 1e9;
	(void)snprintf(buf, CL_FIGURE_MAX, "%.*f", v < 0.995 ? 3 :
	    decimals(v), v);
	return (buf);
}

const char *
cl_figure_change(char buf[CL_FIGURE_MAX], uint64_t a, uint64_t b)
{
	char count[32];

	if (a == b)
		return ("0");
	(void)snprintf(buf, CL_FIGURE_MAX, "%c%s", b > a ? '+' : '-',
	    cl_text_count(count, b > a ? b - a : a - b));
	return (buf);
}

const char *
cl_figure_relative(char buf[CL_FIGURE_MAX], double a, double b)
{
	double r = (b - a) / a;

	if (!(a < b) && !(a > b))
		return ("");
	if (!isfinite(r))
		return ("new");
	if (fabs(r) < 0.0001)
		return (r > 0 ? "<+0.01%" : ">-0.01%");
	(void)snprintf(buf, CL_FIGURE_MAX, fabs(r) < 1000 ? "%+.2f%%" :
	    "%+.2e%%", 100 * r);
	return (buf);
}
