/*
 * What cl-replay can be asked for in place of a replay, and the options that
 * mean anything to each.  Any other is misuse: what is not heeded would look
 * as if it were.
 */

#include <string.h>

#include "fe.h"
#include "replay.h"

static const char *const bound[] = { "cache", "contract", "prefill", "tokens",
    "warmup", NULL };
static const char *const calibrate[] = { "backend", "cache", "compute",
    "compute-us", "hugepages", "os-cache", "retry", "samples", "seed",
    "threads", NULL };
static const char *const curve[] = { "contract", "prefill", "tokens",
    "warmup", "window", NULL };
static const char *const list_policies[] = { NULL };
static const char *const predict[] = { "prefill", "tokens", "warmup", "width",
    NULL };
static const char *const stats[] = { "prefill", "tokens", "warmup", NULL };

static const struct mode {
	const char	*name;		/* of the option that asks for it */
	int		(*run)(const struct replay_options *,
			    char *const *operands, int n);
	const char *const *takes;	/* besides that, and --force */
} modes[] = {
	{ "bound", replay_bound, bound },
	{ "calibrate", replay_calibrate, calibrate },
	{ "curve", replay_curve, curve },
	{ "list-policies", replay_list, list_policies },
	{ "predict", replay_predict, predict },
	{ "stats", replay_stats, stats },
};

#define NMODES	(sizeof(modes) / sizeof(modes[0]))

static bool
is_among(const char *name, const char *const *names)
{

	while (*names != NULL && strcmp(*names, name) != 0)
		names++;
	return (*names != NULL);
}

static void
check(const struct mode *m, const char *name)
{

	if (strcmp(name, m->name) != 0 && strcmp(name, "force") != 0 &&
	    !is_among(name, m->takes))
		fe_misuse("--%s means nothing to --%s", name, m->name);
}

void
replay_mode_check(const struct replay_options *o, const char *name)
{
	size_t i;

	for (i = 0; i < NMODES; i++)
		if (o->mode == modes[i].run)
			check(&modes[i], name);
	if ((o->mode == replay_traces || o->mode == replay_sweep) &&
	    strcmp(name, "samples") == 0)
		fe_misuse("--samples is of --calibrate");
}
