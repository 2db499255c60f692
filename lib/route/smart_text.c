/*
 * Ways of cache-aware routing, as --smart takes them and results have them.
 */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cl/err.h"
#include "cl/rule.h"
#include "cl/smart.h"
#include "cl/text.h"

#define VALUE_MAX	1e6		/* of D and L */
#define NUMBER_MAX	31		/* characters */
#define DELTA		"delta:"
#define RANK		"rank:"
#define PRIOR		"prior:"
#define KEEP		",keep="

static int
refuse(const char *s, struct cl_err *err)
{
	char vis[CL_SMART_TEXT];

	return (cl_fail(err, CL_EINVAL, "\"%s\": off, delta:D, rank:M, "
	    "rank:M,keep=J or prior:L is wanted",
	    cl_text_vis(vis, sizeof(vis), s, strlen(s))));
}

static int
parse_rank(const char *s, struct cl_smart_options *o, struct cl_err *err)
{
	char among[NUMBER_MAX + 1];
	const char *keep = strstr(s, KEEP);
	size_t n = keep == NULL ? strlen(s) : (size_t)(keep - s);
	uint64_t m, j = 0;

	if (n > NUMBER_MAX)
		return (refuse(s, err));
	memcpy(among, s, n);
	among[n] = '\0';
	if (cl_text_u64(among, 1, CL_RULE_EXPERTS_MAX, &m, NULL) != CL_OK)
		return (refuse(s, err));
	if (keep != NULL && cl_text_u64(keep + strlen(KEEP), 0,
	    CL_RULE_EXPERTS_MAX, &j, NULL) != CL_OK)
		return (refuse(s, err));
	o->kind = CL_SMART_RANK;
	o->among = (uint32_t)m;
	o->keep = (uint32_t)j;
	return (CL_OK);
}

int
cl_smart_parse(const char *s, struct cl_smart_options *o, struct cl_err *err)
{

	o->kind = CL_SMART_OFF;
	o->value = 0;
	o->among = o->keep = 0;
	if (strcmp(s, "off") == 0)
		return (CL_OK);
	if (strncmp(s, RANK, strlen(RANK)) == 0)
		return (parse_rank(s + strlen(RANK), o, err));
	if (strncmp(s, DELTA, strlen(DELTA)) == 0) {
		o->kind = CL_SMART_DELTA;
		return (cl_text_f64(s + strlen(DELTA), 0, VALUE_MAX,
		    &o->value, err));
	}
	if (strncmp(s, PRIOR, strlen(PRIOR)) == 0) {
		o->kind = CL_SMART_PRIOR;
		return (cl_text_f64(s + strlen(PRIOR), 0, VALUE_MAX,
		    &o->value, err));
	}
	return (refuse(s, err));
}

const char *
cl_smart_text(const struct cl_smart_options *o, char buf[CL_SMART_TEXT])
{
	char value[32];

	(void)cl_text_double(value, o->value);
	switch (o->kind) {
	case CL_SMART_OFF:
		return ("off");
	case CL_SMART_DELTA:
		(void)snprintf(buf, CL_SMART_TEXT, DELTA "%s", value);
		break;
	case CL_SMART_RANK:
		(void)snprintf(buf, CL_SMART_TEXT, RANK "%" PRIu32 KEEP "%"
		    PRIu32, o->among, o->keep);
		break;
	case CL_SMART_PRIOR:
		(void)snprintf(buf, CL_SMART_TEXT, PRIOR "%s", value);
		break;
	}
	return (buf);
}

bool
cl_smart_on(const struct cl_smart_options *o)
{

	return (o->kind != CL_SMART_OFF || o->drop > 0);
}
