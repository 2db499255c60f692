/*
 * Text is read through once before it is written as a trace: a dumped one to
 * see whether it is whole and unchanged, plain rows to see which layers and
 * experts they speak of.  It waits in a spool meanwhile.
 */

#include <stdlib.h>
#include <string.h>

#include "cl/err.h"
#include "cl/hash.h"
#include "cl/import_tsv.h"
#include "cl/model.h"
#include "cl/src.h"
#include "cl/vec.h"
#include "import_tsv_int.h"

bool
cl_import_is_comment(const struct tsv_lines *l)
{

	return (l->n > 0 && l->p[0] == '#');
}

bool
cl_import_is_dumped(const struct tsv_lines *l)
{
	static const char dumped[] = "# cl-trace";

	return (l->n >= sizeof(dumped) - 1 &&
	    memcmp(l->p, dumped, sizeof(dumped) - 1) == 0);
}

int
cl_import_scan_dumped(struct tsv_lines *l, struct tsv_spool *spool,
    bool *edited, struct cl_err *err)
{
	static const char last[] = "# rows\t";
	struct tsv_head h = { 0 };
	struct cl_hash sum;
	enum tsv_line line;
	uint64_t nlines = 0;
	int status;

	cl_hash_init(&sum);
	while ((status = cl_import_line(l, err)) == CL_OK) {
		cl_import_spool_line(spool, l->p, l->n);
		if (l->n >= sizeof(last) - 1 &&
		    memcmp(l->p, last, sizeof(last) - 1) == 0)
			break;
		cl_hash_add(&sum, l->p, l->n);
		cl_hash_add(&sum, "\n", 1);
		nlines += !cl_import_is_comment(l) && l->n > 0;
	}
	if (status == CL_END)
		return (cl_fail(err, CL_ECUT, "%s: incomplete: ends at line "
		    "%llu, before the # rows line of its trace (rows without "
		    "any # lines can be loaded)", cl_src_name(l->src),
		    (unsigned long long)l->no - 1));
	if (status != CL_OK ||
	    (status = cl_import_head(l, &h, &line, err)) != CL_OK)
		return (status);
	*edited = h.sum != cl_hash_end(&sum) || h.nrows + 1 != nlines;
	return (CL_OK);
}

static int
scan_row(const struct tsv_lines *l, const struct tsv_row *r, uint16_t *ids,
    struct tsv_found *found, struct cl_err *err)
{
	struct tsv_found_layer *f;
	uint32_t n, i;

	if (!r->has_layer)
		return (CL_OK);
	if (r->layer >= CL_MODEL_LAYERS_MAX)
		return (cl_import_fail(l, err, "column layer: layer %u, at "
		    "most %d are understood", r->layer, CL_MODEL_LAYERS_MAX));
	if (cl_vec_grow(&found->layers, &found->cap, (size_t)r->layer + 1,
	    sizeof(*found->layers), err) != CL_OK)
		return (CL_ENOMEM);
	if (r->layer >= found->nlayers)
		found->nlayers = r->layer + 1;
	f = &found->layers[r->layer];
	f->row = true;
	if (r->scores.p != NULL)
		f->scores = cl_import_count(&r->scores);
	if (r->experts.p == NULL)
		return (CL_OK);
	if (!cl_import_ids(&r->experts, ids, CL_RULE_EXPERTS_MAX, &n))
		return (cl_import_fail(l, err, "column experts: not numbers "
		    "between commas, at most %d", UINT16_MAX));
	f->used = n > f->used ? n : f->used;
	for (i = 0; i < n; i++)
		if (ids[i] >= f->experts)
			f->experts = ids[i] + 1u;
	return (CL_OK);
}

int
cl_import_scan_plain(struct tsv_lines *l, struct tsv_spool *spool,
    struct tsv_found *found, struct cl_err *err)
{
	struct tsv_columns columns;
	struct tsv_row row;
	bool has_columns = false;
	uint16_t *ids;
	int status;

	if ((ids = calloc(CL_RULE_EXPERTS_MAX, sizeof(*ids))) == NULL)
		return (cl_fail_nomem(err, "a row"));
	while ((status = cl_import_line(l, err)) == CL_OK) {
		cl_import_spool_line(spool, l->p, l->n);
		if (cl_import_is_comment(l) || l->n == 0)
			continue;
		if (!has_columns) {
			status = cl_import_columns(l, &columns, err);
			has_columns = true;
		} else {
			status = cl_import_row(l, &columns, &row, err);
			if (status == CL_OK)
				status = scan_row(l, &row, ids, found, err);
		}
		if (status != CL_OK)
			break;
	}
	free(ids);
	return (status == CL_END ? CL_OK : status);
}

/* A layer of which a row speaks, or about which all was given (f NULL). */
static int
make_layer(const struct cl_import_tsv *o, const struct tsv_found_layer *f,
    uint32_t most, struct cl_layer *l)
{

	l->nexperts = o->experts;
	if (l->nexperts == 0)
		l->nexperts = f->scores != 0 ? f->scores : most;
	l->k = o->used != 0 ? o->used : f->used;
	cl_rule_init(&l->rule, l->nexperts, l->k);
	return (l->k == 0 ? CL_EFORMAT : CL_OK);
}

struct cl_model *
cl_import_model(const struct tsv_lines *line, const struct cl_import_tsv *o,
    const struct tsv_found *found, struct cl_err *err)
{
	uint32_t i, n = o->layers != 0 ? o->layers : found->nlayers, most = 1;
	bool given = o->layers != 0 && o->experts != 0 && o->used != 0;
	const struct tsv_found_layer *f;
	struct cl_model *m;

	if (n == 0) {
		(void)cl_import_fail(line, err, "column layer: no row has "
		    "one");
		return (NULL);
	}
	for (i = 0; i < found->nlayers; i++)
		if (found->layers[i].experts > most)
			most = found->layers[i].experts;
	if ((m = cl_model_new(n, err)) == NULL)
		return (NULL);
	for (i = 0; i < n; i++) {
		f = i < found->nlayers ? &found->layers[i] : NULL;
		if (!given && (f == NULL || !f->row))
			continue;	/* no row speaks of it: dense */
		if (make_layer(o, f, most, &m->layers[i]) == CL_OK)
			continue;
		(void)cl_import_fail(line, err, "column experts: layer %u "
		    "never has any, and how many a token uses was not given",
		    i);
		cl_model_free(m);
		return (NULL);
	}
	return (m);
}
