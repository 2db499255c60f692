/*
 * Heads of traces: their limits, and their text.
 */

#include <stdio.h>

#include "cl/err.h"
#include "trace_head.h"
#include "trace_make.h"

static void
heads_have_limits(void)
{
	struct cl_trace_head *h = make_head(&any);
	char key[16], *name;
	int i;

	h->block_tokens = CL_TRACE_BLOCK_MAX;
	head_gives(h, CL_OK, "");
	h->block_tokens++;
	head_gives(h, CL_EINVAL, "blocks of 4097 tokens; 1 to 4096");
	h->block_tokens = 0;
	head_gives(h, CL_EINVAL, "blocks of 0 tokens");
	h->block_tokens = 1;
	h->scores = CL_SCORES_NONE;
	head_gives(h, CL_EINVAL, "a forecast needs scores");
	h->forecast = false;
	h->origin = (enum cl_trace_origin)5;
	head_gives(h, CL_EINVAL, "origin 5");
	h->origin = CL_ORIGIN_SYNTHETIC;
	for (i = 2; i < CL_TRACE_NOTES_MAX; i++) {
		(void)snprintf(key, sizeof(key), "key%d", i);
		assert(cl_trace_head_note(h, key, "", NULL) == CL_OK);
	}
	head_gives(h, CL_OK, "");
	assert(cl_trace_head_note(h, "key9", "again", NULL) == CL_OK);
	assert(cl_trace_head_note(h, "one more", "", NULL) == CL_EINVAL);
	assert(strcmp(cl_trace_head_find(h, "key9"), "again") == 0);
	assert(cl_trace_head_find(h, "none") == NULL);
	name = malloc(65537);
	assert(name != NULL);
	memset(name, 'x', 65536);
	name[65536] = '\0';
	free(h->model->name);
	h->model->name = name;
	head_gives(h, CL_EINVAL, "longer than 65535 bytes");
	name[65535] = '\0';
	head_gives(h, CL_OK, "");
	h->model->layers[1].k = h->model->layers[1].rule.k = 9;
	head_gives(h, CL_EFORMAT, "k is 9 with 8 experts");
	cl_trace_head_free(h);
}

static void
heads_have_a_text(void)
{
	struct make m = any;
	struct cl_trace_head *h = make_head(&m);
	char text[80];

	assert(strcmp(cl_trace_head_text(h, text, sizeof(text)),
	    "engine=unit test 1 od\td=a\nb\\c=") == 0);
	assert(strcmp(cl_trace_head_text(h, text, 20),
	    "engine=unit test...") == 0);
	assert(strcmp(cl_trace_origin_name(CL_ORIGIN_SYNTHETIC),
	    "SYNTHETIC") == 0);
	assert(cl_trace_origin_name((enum cl_trace_origin)0) == NULL);
	assert(cl_trace_end_name((enum cl_trace_end)4) == NULL);
	assert(strcmp(cl_trace_scores_name(CL_SCORES_NONE), "ids") == 0);
	cl_trace_head_free(h);
}

static const struct unit units[] = {
	{ "heads are held to their limits", heads_have_limits },
	{ "heads and numbers have names", heads_have_a_text },
};

UNIT_MAIN(units)
