#ifndef CL_HOST_H
#define CL_HOST_H

/*
 * What the machine allows and what this process took of it.  All of it is
 * measurement: nothing logical may depend on it.  Sizes are bytes.  Numbers
 * that the system does not tell are 0.
 */

#include <stdint.h>

struct cl_host_usage {
	uint64_t	rss;		/* resident now */
	uint64_t	rss_peak;	/* resident at most, of this image */
	uint64_t	major_faults;	/* since the process began */
	uint64_t	device_bytes;	/* read from devices for this process */
};

/*
 * The memory this process may use: physical RAM, or the least limit of its
 * memory cgroup and every ancestor of it (versions 1 and 2).  root stands in
 * front of /proc and /sys; "" but in tests.
 */
uint64_t	cl_host_memory(const char *root);

/* The processors that this process may run on, at least 1. */
uint32_t	cl_host_processors(void);

void		cl_host_usage(struct cl_host_usage *);

#endif /* CL_HOST_H */
