/*
 * Capturing a router from the graph that computes it.  libllama's scheduler
 * asks for every node before it runs, and runs up to the first one that is
 * wanted; then, and only then, the node's data are in its buffer, which the
 * next nodes may reuse.  So scores and chosen experts are copied inside the
 * callback, and the rule is read while nodes are asked for (tap_rule.c).
 * Nodes of a router are named "ffn_moe_NAME-LAYER".
 *
 * Nothing can be returned through libllama: a failure is kept in tap->err,
 * further nodes are let pass, and cl_tap_decode reports it.
 */

#include <stdlib.h>
#include <string.h>

#include "cl/vec.h"
#include "tap_int.h"

static const struct {
	const char	*name;
	enum tap_node	 node;
} node_names[] = {
	{ "logits", TAP_NODE_LOGITS },
	{ "probs", TAP_NODE_PROBS },
	{ "group_topk", TAP_NODE_GROUPS },
	{ "topk", TAP_NODE_TOPK },
	{ "weights", TAP_NODE_WEIGHTS },
	{ "weights_softmax", TAP_NODE_SOFTMAX_W },
	{ "weights_norm", TAP_NODE_NORM },
	{ "weights_scaled", TAP_NODE_SCALED }
};

#define ASKED_MAX	(1 << 20)	/* more nodes than any graph has */
#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))

/* "ffn_moe_NAME-LAYER", LAYER a decimal number and nothing behind it. */
static enum tap_node
parse_name(const char *name, uint32_t *layer)
{
	const char *s = name + 8, *dash = strrchr(s, '-'), *d;
	size_t i, n;

	if (dash == NULL || dash[1] == '\0')
		return (TAP_NODE_OTHER);
	n = (size_t)(dash - s);
	for (i = 0; i < COUNT(node_names); i++)
		if (strncmp(s, node_names[i].name, n) == 0 &&
		    node_names[i].name[n] == '\0')
			break;
	if (i == COUNT(node_names))
		return (TAP_NODE_OTHER);
	*layer = 0;
	for (d = dash + 1; *d != '\0'; d++) {
		if (*d < '0' || *d > '9' || *layer > 99999)
			return (TAP_NODE_OTHER);
		*layer = *layer * 10 + (uint32_t)(*d - '0');
	}
	return (node_names[i].node);
}

/*
 * Does struct tap_tensor describe this release's tensors?  The name lies at
 * the end and the shape at the beginning: with both in place, so is what is
 * between them.  Views give the sources and view_src a second witness.
 */
static bool
prove_layout(struct cl_tap *tap, const struct tap_tensor *t)
{
	int64_t n = t->ne[0] * t->ne[1] * t->ne[2] * t->ne[3];

	if (tap->lib.get_name(t) != t->name || n < 0 ||
	    tap->lib.nelements(t) != n ||
	    (t->src[0] != NULL &&
	    tap->lib.get_name(t->src[0]) != t->src[0]->name)) {
		(void)cl_fail(&tap->err, CL_ENOTSUP, "%s lays its tensors "
		    "out in a way that is not understood", tap->lib.engine);
		return (false);
	}
	return (true);
}

/* Room for the rows of a batch, made when a layer is first met. */
static int
make_room(struct cl_tap *tap, void *rows, size_t size, uint32_t width)
{
	size_t n = (size_t)tap->opt.nbatch * width;
	void *p;

	if ((p = calloc(n, size)) == NULL)
		return (cl_fail_nomem(&tap->err, "the scores of a batch"));
	memcpy(rows, &p, sizeof(p));
	return (cl_vec_grow(&tap->scratch, &tap->scratch_cap,
	    (size_t)tap->opt.nbatch * width * 4, 1, &tap->err));
}

/* Take these scores?  They must be plain rows of as many experts as before. */
static bool
want_scores(struct cl_tap *tap, struct tap_slot *s,
    const struct tap_tensor *t)
{

	if (s->nscores != s->nids)
		return (false);
	if (!cl_tap_int_is_rows(tap, t) || t->nb[1] != 4 * (size_t)t->ne[0] ||
	    t->ne[0] > CL_RULE_EXPERTS_MAX ||
	    (s->scores != NULL && t->ne[0] != s->out.nexperts)) {
		(void)cl_tap_int_odd(tap, s, "its scores are", t);
		return (false);
	}
	if (s->scores == NULL) {
		s->out.nexperts = (uint32_t)t->ne[0];
		if (make_room(tap, &s->scores, sizeof(*s->scores),
		    s->out.nexperts) != CL_OK)
			return (false);
		s->out.scores = s->scores;
	}
	s->logits = t;
	return (true);
}

/* Take these experts?  Each scored layer has them once. */
static bool
want_ids(struct cl_tap *tap, struct tap_slot *s, const struct tap_tensor *t)
{

	if (s->nids >= s->nscores) {
		if (s->nscores == 0)
			(void)cl_tap_int_odd(tap, s, "there are no scores "
			    "before", t);
		return (false);
	}
	if (!cl_tap_int_is_rows(tap, t) ||
	    t->nb[1] > 4 * (size_t)s->out.nexperts ||
	    t->ne[0] > s->out.nexperts ||
	    (s->ids != NULL && t->ne[0] != s->out.k)) {
		(void)cl_tap_int_odd(tap, s, "its experts are", t);
		return (false);
	}
	if (s->ids == NULL) {
		s->out.k = (uint32_t)t->ne[0];
		if (make_room(tap, &s->ids, sizeof(*s->ids),
		    s->out.k) != CL_OK)
			return (false);
		s->out.ids = s->ids;
	}
	return (true);
}

/*
 * Is this the node with a layer's raw scores?  Where the gate is the softmax
 * over the chosen and the scores have no bias, they are renamed "probs".
 */
static bool
is_scores(const struct cl_tap *tap, const struct tap_slot *s,
    enum tap_node node, const struct tap_tensor *t)
{

	return (node == TAP_NODE_LOGITS || (node == TAP_NODE_PROBS &&
	    s->nscores == s->nids && cl_tap_int_op_is(tap, t, "MUL_MAT")));
}

/*
 * What a node is good for: true if its data are wanted.  *plain is set for one
 * that will be of no use in this graph's next runs either.
 */
static bool
examine(struct cl_tap *tap, const struct tap_tensor *t, bool *plain)
{
	const char *name = tap->lib.get_name(t);
	struct tap_slot *s;
	uint32_t layer;
	enum tap_node node;

	if (strncmp(name, "ffn_moe_", 8) != 0) {
		*plain = !cl_tap_int_rows_look(tap, t);
		return (false);
	}
	node = parse_name(name, &layer);
	*plain = node == TAP_NODE_OTHER;
	if (*plain)
		return (false);
	if (layer >= tap->nslots) {
		(void)cl_fail(&tap->err, CL_ENOTSUP, "layer %u of %u layers "
		    "has a router; %s is not understood", layer, tap->nslots,
		    tap->lib.engine);
		return (false);
	}
	s = &tap->slots[layer];
	if (is_scores(tap, s, node, t))
		return (want_scores(tap, s, t));
	*plain = s->state == TAP_READ && node != TAP_NODE_TOPK;
	if (s->state != TAP_READ)
		cl_tap_int_rule(tap, s, node, t);
	return (node == TAP_NODE_TOPK && tap->err.code == CL_OK &&
	    want_ids(tap, s, t));
}

/*
 * Graphs are run again and again, with the same nodes in the same order, until
 * another is built, which tap.c notices since the callback is then installed
 * anew.  Most nodes are plain, and are known by their address from the second
 * run on: to read all their names, which nobody else does while they run and
 * so are cold in the cache, was most of what capturing cost.
 */
static bool
ask(struct cl_tap *tap, const struct tap_tensor *t)
{
	bool plain = false, wanted;

	if (tap->err.code != CL_OK)
		return (false);
	if (tap->nasked > 0 && tap->asked[0].t == t)
		tap->at = 0;		/* the graph runs again */
	if (tap->at < tap->nasked && tap->asked[tap->at].t == t) {
		if (tap->asked[tap->at++].plain)
			return (false);
		return (examine(tap, t, &plain));
	}
	tap->nasked = tap->at < ASKED_MAX ? tap->at : 0;
	if ((!tap->proven && !(tap->proven = prove_layout(tap, t))) ||
	    cl_vec_grow(&tap->asked, &tap->asked_cap, tap->nasked + 1,
	    sizeof(*tap->asked), &tap->err) != CL_OK)
		return (false);
	wanted = examine(tap, t, &plain);
	tap->asked[tap->nasked].t = t;
	tap->asked[tap->nasked++].plain = plain;
	tap->at = tap->nasked;
	return (wanted);
}

static void
take_scores(struct cl_tap *tap, struct tap_slot *s,
    const struct tap_tensor *t)
{
	uint32_t n = (uint32_t)t->ne[1];
	size_t row = s->out.nexperts * sizeof(float);

	if (n > tap->opt.nubatch || n > (uint32_t)tap->batch.n - s->nscores) {
		(void)cl_tap_int_odd(tap, s, "more rows than tokens come "
		    "from", t);
		return;
	}
	if (!cl_tap_int_rows_fit(tap, n))
		return;
	tap->lib.tensor_get(t, (char *)s->scores + s->nscores * row, 0,
	    n * row);
	s->nscores += n;
	tap->captured++;
}

/* The experts of one row; false where one is none of the layer's. */
static bool
take_row(const struct tap_slot *s, const uint8_t *from, uint16_t *to)
{
	uint32_t j;
	int32_t id;

	for (j = 0; j < s->out.k; j++) {
		memcpy(&id, from + 4 * j, sizeof(id));
		if (id < 0 || (uint32_t)id >= s->out.nexperts)
			return (false);
		to[j] = (uint16_t)id;
	}
	return (true);
}

static void
take_ids(struct cl_tap *tap, struct tap_slot *s, const struct tap_tensor *t)
{
	uint32_t i, n = (uint32_t)t->ne[1];

	if (n != s->nscores - s->nids) {
		(void)cl_tap_int_odd(tap, s, "more experts than scores come "
		    "from", t);
		return;
	}
	if (!cl_tap_int_rows_fit(tap, n))
		return;
	tap->lib.tensor_get(t, tap->scratch, 0, tap->lib.nbytes(t));
	for (i = 0; i < n; i++)
		if (!take_row(s, tap->scratch + i * t->nb[1],
		    s->ids + (size_t)(s->nids + i) * s->out.k)) {
			(void)cl_tap_int_odd(tap, s, "an expert that it has "
			    "not comes from", t);
			return;
		}
	s->nids += n;
	tap->captured++;
}

/* The graph's evaluation callback.  Always true after a node has run. */
bool
cl_tap_int_observe(struct tap_tensor *t, bool asking, void *arg)
{
	struct cl_tap *tap = arg;
	struct tap_slot *s;
	uint32_t layer;
	enum tap_node node;

	if (!tap->armed)
		return (!asking);
	if (asking)
		return (ask(tap, t));
	if (tap->err.code != CL_OK ||
	    strncmp(tap->lib.get_name(t), "ffn_moe_", 8) != 0)
		return (true);
	node = parse_name(tap->lib.get_name(t), &layer);
	s = &tap->slots[layer];
	if (node == TAP_NODE_TOPK)
		take_ids(tap, s, t);
	else
		take_scores(tap, s, t);
	return (true);
}

/* Before a decode: nothing of it has been captured. */
void
cl_tap_int_begin(struct cl_tap *tap)
{
	uint32_t i;

	for (i = 0; i < tap->nslots; i++)
		tap->slots[i].nscores = tap->slots[i].nids = 0;
	tap->at = 0;
	cl_tap_int_rows_begin(tap);
}

/* The layers of a first decode, and whether their rules make sense. */
static void
list_layers(struct cl_tap *tap)
{
	struct tap_slot *s;
	uint32_t i;

	for (i = 0; i < tap->nslots && tap->err.code == CL_OK; i++) {
		s = &tap->slots[i];
		if (s->nscores == 0 && s->nids == 0)
			continue;
		if (s->state == TAP_UNREAD)
			(void)cl_tap_int_odd(tap, s, "its weights come from",
			    NULL);
		else
			(void)cl_rule_check(&s->rule, &tap->err);
		s->state = TAP_READ;
		tap->seen[tap->nseen++] = i;
	}
	if (tap->nseen == 0)
		(void)cl_fail(&tap->err, CL_ENOTSUP, tap->sched != NULL ? "%s "
		    "shows no router: the model has no layer of experts" :
		    "%s did not ask for the callback: is it linked "
		    "statically, or the program without -rdynamic?",
		    tap->lib.engine);
}

/* n rows in the order of the graphs, into that of the batch. */
static void
reorder(struct cl_tap *tap, void *rows, size_t size, uint32_t n)
{
	uint32_t i;

	memcpy(tap->scratch, rows, n * size);
	for (i = 0; i < n; i++)
		memcpy((char *)rows + tap->rows.batch[i] * size,
		    tap->scratch + i * size, size);
}

/* After a decode: every layer has a row for each token, or tap->err. */
void
cl_tap_int_finish(struct cl_tap *tap)
{
	struct tap_slot *s;
	uint32_t i, n = (uint32_t)tap->batch.n, nshown = 0;

	if (tap->err.code == CL_OK && tap->nseen == 0)
		list_layers(tap);
	for (i = 0; i < tap->nslots; i++)
		nshown += tap->slots[i].nscores > 0;
	if (nshown != tap->nseen)
		(void)cl_fail(&tap->err, CL_ENOTSUP, "%s shows routers of %u "
		    "layers, and showed %u at first", tap->lib.engine, nshown,
		    tap->nseen);
	for (i = 0; i < tap->nseen; i++) {
		s = &tap->slots[tap->seen[i]];
		if (s->nscores != n || s->nids != n)
			(void)cl_fail(&tap->err, CL_ENOTSUP, "layer %u: %s "
			    "showed scores of %u and experts of %u of %u "
			    "tokens", s->out.layer, tap->lib.engine,
			    s->nscores, s->nids, n);
	}
	if (tap->err.code != CL_OK ||
	    cl_tap_int_rows_place(tap, &tap->err) != CL_OK)
		return;
	for (i = 0; tap->opt.nseq > 1 && i < tap->nseen; i++) {
		s = &tap->slots[tap->seen[i]];
		reorder(tap, s->scores, s->out.nexperts * sizeof(*s->scores),
		    n);
		reorder(tap, s->ids, s->out.k * sizeof(*s->ids), n);
	}
}
