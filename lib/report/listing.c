/*
 * Events leave as they come, and the digest of the run is chained beside
 * them: wherever the stream has one, both must be the same, or what was listed
 * is not what the run decided.
 */

#include <stdlib.h>

#include "cl/decision.h"
#include "cl/dst.h"
#include "cl/err.h"
#include "cl/json.h"
#include "cl/listing.h"
#include "cl/stats_read.h"

struct cl_listing {
	struct cl_dst	*dst;
	bool		 json;
	uint64_t	 nruns;		/* begun */
	uint64_t	 nevents;	/* of the run at hand */
	uint64_t	 digest;
};

struct cl_listing *
cl_listing_new(bool json, struct cl_dst *dst, struct cl_err *err)
{
	struct cl_listing *l;

	if ((l = calloc(1, sizeof(*l))) == NULL) {
		cl_fail_nomem(err, "a listing of events");
		return (NULL);
	}
	l->dst = dst;
	l->json = json;
	if (!json)
		cl_dst_printf(dst, "run\tpass\ttoken\tphase\tlayer\trank\t"
		    "expert\tclass\tkept\tvictim_layer\tvictim\n");
	return (l);
}

static bool
is_kept(const struct cl_decision *d, uint32_t i)
{

	return ((d->class[i] & CL_DECISION_NOT_KEPT) == 0);
}

static const char *
phase_of(const struct cl_decision *d)
{

	return (d->prefill ? "prefill" : "decode");
}

/* A line an access; no victim is an empty field. */
static void
list_tsv(struct cl_listing *l, const struct cl_decision *d)
{
	const struct cl_decision_victim *v;
	uint32_t i, next = 0;

	for (i = 0; i < d->n; i++) {
		cl_dst_printf(l->dst, "%llu\t%llu\t%llu\t%s\t%u\t%u\t%u\t%s\t"
		    "%d\t", (unsigned long long)l->nruns,
		    (unsigned long long)d->pass, (unsigned long long)d->token,
		    phase_of(d), d->layer, i, d->expert[i],
		    cl_decision_class(d->class[i]), is_kept(d, i));
		if ((v = cl_decision_victim(d, i, &next)) != NULL)
			cl_dst_printf(l->dst, "%u\t%u\n", v->layer,
			    v->expert);
		else
			cl_dst_printf(l->dst, "\t\n");
	}
}

void
cl_listing_event(struct cl_json *j, const struct cl_decision *d)
{
	const struct cl_decision_victim *v;
	uint32_t i, next = 0;

	cl_json_u64(j, "pass", d->pass);
	cl_json_u64(j, "token", d->token);
	cl_json_str(j, "phase", phase_of(d));
	cl_json_u64(j, "layer", d->layer);
	cl_json_array_row(j, "members");
	for (i = 0; i < d->n; i++) {
		cl_json_object_row(j, NULL);
		cl_json_u64(j, "expert", d->expert[i]);
		cl_json_str(j, "class", cl_decision_class(d->class[i]));
		cl_json_bool(j, "kept", is_kept(d, i));
		if ((v = cl_decision_victim(d, i, &next)) != NULL) {
			cl_json_u64(j, "victim_layer", v->layer);
			cl_json_u64(j, "victim", v->expert);
		}
		cl_json_end(j);
	}
	cl_json_end(j);
}

static void
list_json(struct cl_listing *l, const struct cl_decision *d)
{
	struct cl_json j;

	cl_json_init(&j, l->dst);
	cl_json_object_row(&j, NULL);
	cl_json_u64(&j, "run", l->nruns);
	cl_listing_event(&j, d);
	cl_json_end(&j);
	cl_json_finish(&j);
}

/* A row with a digest: is it that of the log so far? */
static int
check_digest(const struct cl_listing *l, const struct cl_stats_rec *rec,
    struct cl_err *err)
{
	size_t i = cl_stats_column(rec->columns, "digest");
	const struct cl_stats_value *v = &rec->row->value[i];

	if (i == rec->columns->n || !v->there || v->u == l->digest ||
	    rec->row->kind != CL_STATS_LOGICAL)
		return (CL_OK);
	if (l->nevents == 0)
		return (cl_fail(err, CL_EFORMAT, "run %llu has no log of "
		    "events: cl-replay --events makes one",
		    (unsigned long long)l->nruns));
	return (cl_fail(err, CL_EFORMAT, "run %llu: the digest %016llx is not "
	    "that of its log of events, %016llx",
	    (unsigned long long)l->nruns, (unsigned long long)v->u,
	    (unsigned long long)l->digest));
}

static int
take(struct cl_listing *l, const struct cl_stats_rec *rec, struct cl_err *err)
{

	switch (rec->kind) {
	case CL_STATS_REC_RUN:
		l->nruns++;
		l->nevents = 0;
		l->digest = 0;
		return (CL_OK);
	case CL_STATS_REC_ROW:
		return (check_digest(l, rec, err));
	case CL_STATS_REC_DECISION:
		l->nevents++;
		l->digest = cl_decision_digest(l->digest, rec->decision);
		if (l->json)
			list_json(l, rec->decision);
		else
			list_tsv(l, rec->decision);
		return (CL_OK);
	default:
		return (CL_OK);
	}
}

int
cl_listing_run(struct cl_listing *l, struct cl_stats_reader *in,
    struct cl_stats_end *end, struct cl_err *err)
{
	const struct cl_stats_rec *rec;
	int status;

	while ((status = cl_stats_read(in, &rec, err)) == CL_OK) {
		if (rec->kind == CL_STATS_REC_TRAILER) {
			*end = *rec->end;
			return (CL_OK);
		}
		if ((status = take(l, rec, err)) != CL_OK)
			return (status);
	}
	return (status);
}

void
cl_listing_free(struct cl_listing *l)
{

	free(l);
}
