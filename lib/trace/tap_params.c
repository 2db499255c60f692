/*
 * Settings of the model's and the context's parameters.  Their structs have
 * grown and shifted from release to release, so nothing is taken for granted of
 * them: a field is looked for by the values that the defaults have at it and
 * around it, and whether it was the right one is seen when the model is loaded,
 * by what libllama logs of its buffers and layers.  Where the one is not found,
 * or the other does not come, the setting is refused.
 */

#include <stdio.h>
#include <string.h>

#include "tap_int.h"

#define POINTERS_MAX	3	/* before the number of layers */
#define SPLIT_BY_LAYER	1	/* llama_split_mode, by default */
#define FLAGS_FROM	4	/* of 8 bytes: behind what is a number */
#define FLAGS_TO	16
#define KINDS_TO	16		/* of 4 bytes: kinds of rope ... */
#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))

/*
 * Flags by default, in groups that begin at a pointer's alignment: of b7347,
 * vocab_only, use_mmap, use_mlock, check_tensors, use_extra_bufts, no_host;
 * since v0.4.0 without the second and third, and with no_alloc.
 */
static const struct {
	uint8_t		 flags[6];
	size_t		 nflags;
	size_t		 repack;	/* use_extra_bufts */
} layouts[] = {
	{ { 0, 1, 0, 0, 1, 0 }, 6, 4 },
	{ { 0, 0, 1, 0, 0 }, 5, 2 }
};

static int
not_found(const struct cl_tap *tap, const char *what, struct cl_err *err)
{

	return (cl_fail(err, CL_ENOTSUP, "%s: where it takes %s is not known",
	    tap->lib.engine, what));
}

/*
 * The number of layers on a GPU follows one or two pointers, NULL by default,
 * and is itself followed by how a model is split among GPUs.  By default it is
 * none, all (-1), or so many that it means all (999).
 */
static int
set_gpu_layers(const struct cl_tap *tap, struct tap_blob *p,
    struct cl_err *err)
{
	int32_t pair[2];
	size_t i;

	for (i = 0; i < POINTERS_MAX && p->word[i] == 0; i++)
		;
	memcpy(pair, &p->word[i], sizeof(pair));
	if (i == 0 || i == POINTERS_MAX || pair[1] != SPLIT_BY_LAYER ||
	    (pair[0] != 0 && pair[0] != -1 && pair[0] != 999))
		return (not_found(tap, "layers for a GPU", err));
	pair[0] = (int32_t)tap->opt.gpu_layers;
	memcpy(&p->word[i], pair, sizeof(pair));
	return (CL_OK);
}

static int
clear_repack(const struct cl_tap *tap, struct tap_blob *p,
    struct cl_err *err)
{
	uint8_t *flags;
	size_t i, j;

	for (i = FLAGS_FROM; i < FLAGS_TO && p->word[i] == 0; i++)
		;
	flags = (uint8_t *)&p->word[i];
	for (j = 0; i < FLAGS_TO && j < COUNT(layouts); j++)
		if (memcmp(flags, layouts[j].flags, layouts[j].nflags) == 0) {
			flags[layouts[j].repack] = 0;
			return (CL_OK);
		}
	return (not_found(tap, "whether to repack weights", err));
}

/* Put into the defaults what was asked for. */
int
cl_tap_int_set_params(const struct cl_tap *tap, struct tap_blob *p,
    struct cl_err *err)
{
	int status = CL_OK;

	if (tap->opt.has_gpu_layers)
		status = set_gpu_layers(tap, p, err);
	if (tap->opt.no_repack && status == CL_OK)
		status = clear_repack(tap, p, err);
	return (status);
}

/*
 * Four kinds stand one after another: of rope scaling, pooling, attention and
 * flash attention, each -1 by default: as the model says, or as it fits.
 */
int
cl_tap_int_set_context(const struct cl_tap *tap, struct tap_blob *p,
    struct cl_err *err)
{
	static const int32_t unsaid[4] = { -1, -1, -1, -1 };
	int32_t kinds[KINDS_TO];
	size_t i;

	if (!tap->opt.no_flash_attn)
		return (CL_OK);
	memcpy(kinds, p, sizeof(kinds));
	for (i = 0; i + COUNT(unsaid) <= KINDS_TO; i++)
		if (memcmp(&kinds[i], unsaid, sizeof(unsaid)) == 0) {
			kinds[i + COUNT(unsaid) - 1] = 0;
			memcpy(p, kinds, sizeof(kinds));
			return (CL_OK);
		}
	return (not_found(tap, "whether to use flash attention", err));
}

int
cl_tap_int_check_context(const struct cl_tap *tap, struct cl_err *err)
{

	if (!tap->opt.no_flash_attn || tap->log.plain_attn)
		return (CL_OK);
	return (cl_fail(err, CL_ENOTSUP, "%s does not tell that it does "
	    "without flash attention", tap->lib.engine));
}

/*
 * A line of libllama's log, while a model is loaded.  Weights are repacked
 * into buffers of other kinds than those that the processor's back end has
 * for weights as they are in the file.
 */
void
cl_tap_int_hear(struct tap_log *log, const char *line)
{
	const char *s = strchr(line, ':');
	unsigned n, of;
	char kind[32];

	if (s == NULL)
		return;
	if (sscanf(s, ": %31s model buffer size", kind) == 1 &&
	    strstr(s, " model buffer size") != NULL) {
		log->nbuffers++;
		log->repacked |= strcmp(kind, "AMX") == 0 ||
		    (strncmp(kind, "CPU_", 4) == 0 &&
		    strcmp(kind, "CPU_Mapped") != 0);
	}
	if (sscanf(s, ": flash_attn = %31s", kind) == 1)
		log->plain_attn = strcmp(kind, "disabled") == 0;
	if (sscanf(s, ": offloaded %u/%u layers to GPU", &n, &of) == 2) {
		log->has_gpu = true;
		log->gpu_layers = n;
		log->all_layers = of;
	}
}

/* A model was loaded: did it take what was put into its parameters? */
int
cl_tap_int_check_params(const struct cl_tap *tap, struct cl_err *err)
{
	const struct cl_tap_options *o = &tap->opt;
	const struct tap_log *log = &tap->log;
	uint32_t want = 0;

	if (o->no_repack && (log->repacked || log->nbuffers == 0))
		return (cl_fail(err, CL_ENOTSUP, "%s %s", tap->lib.engine,
		    log->repacked ? "repacks weights all the same" :
		    "does not tell whether it repacks weights"));
	if (!o->has_gpu_layers)
		return (CL_OK);
	if (o->gpu_layers > 0 && !log->has_gpu)
		return (cl_fail(err, CL_ENOTSUP, "%s has no GPU to put "
		    "layers on", tap->lib.engine));
	if (log->has_gpu)
		want = o->gpu_layers < log->all_layers ? o->gpu_layers :
		    log->all_layers;
	if (log->gpu_layers != want)
		return (cl_fail(err, CL_ENOTSUP, "%s puts %u layers on a "
		    "GPU, not %u", tap->lib.engine, log->gpu_layers, want));
	return (CL_OK);
}
