/*
 * --list-policies: the table, with what each policy takes.
 */

#include "cl/dst.h"
#include "fe.h"
#include "replay.h"

int
replay_list(const struct replay_options *o, char *const *operands, int n)
{
	const struct cl_cache_policy_info *info;
	struct cl_dst *out;
	char takes[CL_CACHE_TAKES_TEXT];
	unsigned i;

	(void)operands;
	if (n != 0)
		fe_misuse("--list-policies takes no operand");
	out = fe_output(o->output, o->replace, false);
	cl_dst_printf(out, "policy\tparameters\tsummary\tpaper\tretain\n");
	for (i = 0; (info = cl_cache_policy(i)) != NULL; i++)
		cl_dst_printf(out, "%s\t%s\t%s\t%s\t%s\n", info->name,
		    cl_cache_policy_takes(info, takes), info->summary,
		    info->paper == NULL ? "" : info->paper,
		    info->total_order ? "yes" : "no");
	return (fe_finish(out, FE_DONE));
}
