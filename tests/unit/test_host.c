/*
 * Memory limits, on trees of files made for the purpose: the least limit of
 * the group and of all above it counts, whichever version it is.
 */

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cl/host.h"
#include "unit.h"

static char root[] = "/tmp/cl-test-host.XXXXXX";

/* Write a file below the root, and the folders it needs. */
static void
put(const char *path, const char *text)
{
	char full[512], *slash;
	FILE *f;

	assert((size_t)snprintf(full, sizeof(full), "%s/%s", root, path) <
	    sizeof(full));
	for (slash = full + sizeof(root); (slash = strchr(slash, '/')) !=
	    NULL; slash++) {
		*slash = '\0';
		(void)mkdir(full, 0700);
		*slash = '/';
	}
	assert((f = fopen(full, "w")) != NULL);
	assert(fputs(text, f) >= 0 && fclose(f) == 0);
}

static void
without_a_group_it_is_all_memory(void)
{

	assert(mkdtemp(root) != NULL);
	assert(cl_host_memory(root) == 0);	/* nothing is known at all */
	put("proc/meminfo", "MemFree: 5 kB\nMemTotal:       1000 kB\n");
	assert(cl_host_memory(root) == 1024000);
}

static void
the_least_limit_above_counts_in_version_2(void)
{

	put("proc/self/cgroup", "0::/a/b/c\n");
	assert(cl_host_memory(root) == 1024000);
	put("sys/fs/cgroup/a/b/c/memory.max", "max\n");
	put("sys/fs/cgroup/a/b/memory.max", "300000\n");
	put("sys/fs/cgroup/a/memory.max", "200000\n");
	put("sys/fs/cgroup/memory.max", "max\n");
	assert(cl_host_memory(root) == 200000);
	put("sys/fs/cgroup/a/b/c/memory.max", "100000\n");
	assert(cl_host_memory(root) == 100000);
}

static void
version_1_counts_as_well(void)
{

	put("proc/self/cgroup", "3:cpu,cpuacct:/x\n2:memory:/x/y\n0::/\n");
	put("sys/fs/cgroup/memory/memory.limit_in_bytes",
	    "9223372036854771712\n");
	assert(cl_host_memory(root) == 1024000);
	put("sys/fs/cgroup/memory/x/memory.limit_in_bytes", "70000\n");
	assert(cl_host_memory(root) == 70000);
}

static void
this_process_takes_memory(void)
{
	struct cl_host_usage u;
	char command[sizeof(root) + 8];

	cl_host_usage(&u);
	assert(u.rss > 100000 && u.rss_peak >= u.rss);
	(void)snprintf(command, sizeof(command), "rm -rf %s", root);
	assert(system(command) == 0);
}

static const struct unit units[] = {
	{ "without a group it is all memory", without_a_group_it_is_all_memory },
	{ "the least limit of all groups above counts, version 2",
	    the_least_limit_above_counts_in_version_2 },
	{ "version 1 counts as well", version_1_counts_as_well },
	{ "this process takes memory, and its peak is no less",
	    this_process_takes_memory },
};

UNIT_MAIN(units)
