/*
 * The names of predictors, as --prefetch takes them and results have them.
 */

#include <stdio.h>
#include <string.h>

#include "cl/err.h"
#include "cl/predict.h"
#include "cl/text.h"

static const char *const names[] = {
	[CL_PREDICT_OFF] = "off",
	[CL_PREDICT_PREVIOUS] = "previous",
	[CL_PREDICT_POPULAR] = "popular",
	[CL_PREDICT_AHEAD] = "ahead",
	[CL_PREDICT_ORACLE] = "oracle"
};

#define NKINDS	(sizeof(names) / sizeof(names[0]))
#define RECALL	"oracle:recall="

int
cl_predict_parse(const char *s, struct cl_predict_options *o,
    struct cl_err *err)
{
	char vis[CL_PREDICT_TEXT];
	unsigned i;
	double recall;
	int status;

	o->recall = CL_PREDICT_SURE;
	for (i = 0; i < NKINDS; i++)
		if (strcmp(s, names[i]) == 0) {
			o->kind = (enum cl_predict_kind)i;
			return (CL_OK);
		}
	if (strncmp(s, RECALL, strlen(RECALL)) != 0)
		return (cl_fail(err, CL_EINVAL, "\"%s\": off, previous, "
		    "popular, ahead, oracle or oracle:recall=R is wanted",
		    cl_text_vis(vis, sizeof(vis), s, strlen(s))));
	if ((status = cl_text_f64(s + strlen(RECALL), 0, 1, &recall, err)) !=
	    CL_OK)
		return (status);
	o->kind = CL_PREDICT_ORACLE;
	o->recall = (uint32_t)(recall * CL_PREDICT_SURE + 0.5);
	return (CL_OK);
}

const char *
cl_predict_text(const struct cl_predict_options *o,
    char buf[CL_PREDICT_TEXT])
{
	char recall[32];

	if (o->kind == CL_PREDICT_ORACLE)
		(void)snprintf(buf, CL_PREDICT_TEXT, RECALL "%s",
		    cl_text_double(recall, (double)o->recall /
		    CL_PREDICT_SURE));
	else
		(void)snprintf(buf, CL_PREDICT_TEXT, "%s", names[o->kind]);
	return (buf);
}
