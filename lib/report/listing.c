/*
 * Events leave as they come, and the digest of the run is chained beside
 * them: wherever the stream has one, both must be the same, or what was listed
 * is not what the run decided.
 *
 * Of choices that routing changed, who is neither used nor left out was
 * replaced, by rank: the first of these by the first that the rule did not
 * choose, and so on.
 */

#include <stdlib.h>

#include "cl/decision.h"
#include "cl/dst.h"
#include "cl/err.h"
#include "cl/json.h"
#include "cl/listing.h"
#include "cl/stats_read.h"

enum { OTHER, USED, LEFT_OUT, PLAIN = 4 };	/* marks of an expert */

struct cl_listing {
	struct cl_dst	*dst;
	bool		 json;
	uint64_t	 nruns;		/* begun */
	uint64_t	 nevents;	/* of the run at hand */
	uint64_t	 digest;
	uint8_t		 mark[UINT16_MAX + 1];	/* between changes: OTHER */
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
		    "expert\tclass\tkept\tvictim_layer\tvictim\t"
		    "instead\n");
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

/* Of a line, all that comes before the class. */
static void
begin_line(struct cl_listing *l, const struct cl_decision *d, uint64_t token,
    uint32_t rank, uint32_t expert)
{

	cl_dst_printf(l->dst, "%llu\t%llu\t%llu\t%s\t%u\t%u\t%u\t",
	    (unsigned long long)l->nruns, (unsigned long long)d->pass,
	    (unsigned long long)token, phase_of(d), d->layer, rank, expert);
}

static void
mark(struct cl_listing *l, const struct cl_decision_change *c,
    const uint16_t *plain, const uint16_t *chosen)
{
	uint32_t i;

	for (i = 0; i < c->n; i++)
		l->mark[chosen[i]] = i < c->nused ? USED : LEFT_OUT;
	for (i = 0; i < c->n; i++)
		l->mark[plain[i]] |= PLAIN;
}

static void
unmark(struct cl_listing *l, const uint16_t *both, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		l->mark[both[i]] = OTHER;
}

/* The next of those chosen that the rule did not choose, or NULL. */
static const uint16_t *
newcomer(const struct cl_listing *l, const struct cl_decision_change *c,
    const uint16_t *chosen, uint32_t *at)
{

	while (*at < c->n && (l->mark[chosen[*at]] & PLAIN) != 0)
		++*at;
	return (*at < c->n ? &chosen[(*at)++] : NULL);
}

/* A line for each choice that was replaced or left out. */
static void
list_change(struct cl_listing *l, const struct cl_decision *d,
    const struct cl_decision_change *c, const uint16_t *plain)
{
	const uint16_t *chosen = plain + c->n, *instead;
	uint32_t i, at = 0;

	mark(l, c, plain, chosen);
	for (i = 0; i < c->n; i++) {
		if ((l->mark[plain[i]] & USED) != 0)
			continue;
		begin_line(l, d, d->token + c->token, i, plain[i]);
		if ((l->mark[plain[i]] & LEFT_OUT) != 0 ||
		    (instead = newcomer(l, c, chosen, &at)) == NULL)
			cl_dst_printf(l->dst, "dropped\t\t\t\t\n");
		else
			cl_dst_printf(l->dst, "replaced\t\t\t\t%u\n",
			    *instead);
	}
	unmark(l, plain, 2 * (size_t)c->n);
}

/* Changed choices, then a line an access; what there is not is empty. */
static void
list_tsv(struct cl_listing *l, const struct cl_decision *d)
{
	const struct cl_decision_victim *v;
	const uint16_t *choice = d->choice;
	uint32_t i, next = 0;

	for (i = 0; i < d->nchanges; i++) {
		list_change(l, d, &d->change[i], choice);
		choice += 2 * (size_t)d->change[i].n;
	}
	for (i = 0; i < d->n; i++) {
		begin_line(l, d, d->token, i, d->expert[i]);
		cl_dst_printf(l->dst, "%s\t%d\t",
		    cl_decision_class(d->class[i]), is_kept(d, i));
		if ((v = cl_decision_victim(d, i, &next)) != NULL)
			cl_dst_printf(l->dst, "%u\t%u\t\n", v->layer,
			    v->expert);
		else
			cl_dst_printf(l->dst, "\t\t\n");
	}
}

static void
experts(struct cl_json *j, const char *key, const uint16_t *id, uint32_t n)
{
	uint32_t i;

	cl_json_array_row(j, key);
	for (i = 0; i < n; i++)
		cl_json_u64(j, NULL, id[i]);
	cl_json_end(j);
}

static void
changes(struct cl_json *j, const struct cl_decision *d)
{
	const struct cl_decision_change *c;
	const uint16_t *id = d->choice;

	cl_json_array_row(j, "changes");
	for (c = d->change; c < d->change + d->nchanges; c++) {
		cl_json_object_row(j, NULL);
		cl_json_u64(j, "token", d->token + c->token);
		experts(j, "plain", id, c->n);
		experts(j, "used", id + c->n, c->nused);
		experts(j, "left_out", id + c->n + c->nused, c->n - c->nused);
		cl_json_end(j);
		id += 2 * (size_t)c->n;
	}
	cl_json_end(j);
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
	if (d->nchanges > 0)
		changes(j, d);
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
