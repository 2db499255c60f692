/*
 * The system's own small text files, read line by line.  A file that is not
 * there is an answer, too: the number stays unknown.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/resource.h>

#include "cl/host.h"

#define PATH_CAP	4096

/*
 * The number behind `key` at the start of a line of the file, or behind
 * nothing where key is ""; 0 where there is none.  "max" reads as none.
 */
static uint64_t
number(const char *path, const char *key)
{
	char line[512], *end;
	size_t n = strlen(key);
	uint64_t v = 0, found;
	FILE *f;

	if ((f = fopen(path, "re")) == NULL)
		return (0);
	while (fgets(line, sizeof(line), f) != NULL) {
		if (strncmp(line, key, n) != 0)
			continue;
		found = strtoull(line + n, &end, 10);
		if (end != line + n) {
			v = found;
			break;
		}
	}
	(void)fclose(f);
	return (v);
}

static uint64_t
least(uint64_t a, uint64_t b)
{

	return (b != 0 && (a == 0 || b < a) ? b : a);
}

/*
 * The least limit named `file` in the folder mount + group and every folder
 * above it, down to the mount itself.
 */
static uint64_t
climb(const char *mount, const char *group, const char *file)
{
	char dir[PATH_CAP], path[PATH_CAP + 64], *slash;
	size_t top = strlen(mount);
	uint64_t limit = 0;

	if ((size_t)snprintf(dir, sizeof(dir), "%s%s", mount, group) >=
	    sizeof(dir))
		return (0);
	for (;;) {
		(void)snprintf(path, sizeof(path), "%s/%s", dir, file);
		limit = least(limit, number(path, ""));
		if (strlen(dir) <= top ||
		    (slash = strrchr(dir + top, '/')) == NULL)
			break;
		*slash = '\0';
	}
	return (limit);
}

/* One line of /proc/self/cgroup: "id:controllers:/group". */
static uint64_t
cgroup_limit(const char *root, char *line)
{
	char mount[PATH_CAP], *controllers, *group;

	line[strcspn(line, "\n")] = '\0';
	if ((controllers = strchr(line, ':')) == NULL ||
	    (group = strchr(++controllers, ':')) == NULL)
		return (0);
	*group++ = '\0';
	if (*controllers == '\0') {			/* version 2 */
		(void)snprintf(mount, sizeof(mount), "%s/sys/fs/cgroup",
		    root);
		return (climb(mount, group, "memory.max"));
	}
	if (strstr(controllers, "memory") == NULL)
		return (0);
	(void)snprintf(mount, sizeof(mount), "%s/sys/fs/cgroup/memory", root);
	return (climb(mount, group, "memory.limit_in_bytes"));
}

uint64_t
cl_host_memory(const char *root)
{
	char path[PATH_CAP], line[PATH_CAP];
	uint64_t limit;
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/proc/meminfo", root);
	limit = number(path, "MemTotal:") * 1024;
	(void)snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
	if ((f = fopen(path, "re")) == NULL)
		return (limit);
	while (fgets(line, sizeof(line), f) != NULL)
		limit = least(limit, cgroup_limit(root, line));
	(void)fclose(f);
	return (limit);
}

/* Bits of a mask in hexadecimal digits, with commas between groups. */
static uint32_t
count_bits(const char *mask)
{
	static const char digits[] = "0123456789abcdef";
	const char *digit;
	uint32_t n = 0;
	size_t v;

	for (; *mask != '\0' && *mask != '\n'; mask++) {
		if ((digit = strchr(digits, *mask)) == NULL)
			continue;
		for (v = (size_t)(digit - digits); v != 0; v &= v - 1)
			n++;
	}
	return (n);
}

uint32_t
cl_host_processors(void)
{
	static const char key[] = "Cpus_allowed:";
	char line[PATH_CAP];
	uint32_t n = 0;
	long online;
	FILE *f;

	if ((f = fopen("/proc/self/status", "re")) != NULL) {
		while (n == 0 && fgets(line, sizeof(line), f) != NULL)
			if (strncmp(line, key, sizeof(key) - 1) == 0)
				n = count_bits(line + sizeof(key) - 1);
		(void)fclose(f);
	}
	if (n > 0)
		return (n);
	online = sysconf(_SC_NPROCESSORS_ONLN);
	return (online < 1 ? 1 : (uint32_t)online);
}

void
cl_host_usage(struct cl_host_usage *u)
{
	struct rusage ru;

	u->rss = number("/proc/self/status", "VmRSS:") * 1024;
	u->rss_peak = number("/proc/self/status", "VmHWM:") * 1024;
	u->device_bytes = number("/proc/self/io", "read_bytes:");
	u->major_faults = getrusage(RUSAGE_SELF, &ru) == 0 ?
	    (uint64_t)ru.ru_majflt : 0;
	if (u->rss_peak == 0 && getrusage(RUSAGE_SELF, &ru) == 0)
		u->rss_peak = (uint64_t)ru.ru_maxrss * 1024;
}
