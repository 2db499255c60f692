/*
 * cl-replay: drive an expert cache with router traces, and really read what
 * it misses.
 */

#include "fe.h"
#include "input.h"
#include "replay.h"

static const struct fe_command command = {
	.name = "cl-replay",
	.synopsis = "[options] [trace ...] > stats",
	.help =
"Replay traces (files, archives, archive:glob) through an expert cache.\n"
"\n"
"cache:   --cache SIZE  4G (4 x 1024^3 bytes), 4GB, 25% of all, or 64e (25%)\n"
"         --policy NAME[:N=V,...] (lru)  --list-policies  --warm\n"
"         --partition global|layer|class (global)\n"
"sweeps:  --policy A,B:N=V,C --cache 2%..60%/2%,1G  --jobs N  --part I/N\n"
"replay:  --contract event|serial|retain (event)  --events  --quality\n"
"         --prefill union|token|skip (union)\n"
"         --warmup N (0)  --tokens N (all)  --window N (64)\n"
"ahead:   --prefetch previous|popular|ahead|oracle[:recall=R]  --stage N\n"
"         --width N  --seed N\n"
"routing: --smart delta:D|rank:M[,keep=J]|prior:L (off)  --drop F (0)\n"
"reading: --io real|none (real)  --model FILE  --threads N (4)\n"
"         --backend auto|uring|pread (auto)  --retry N (0)\n"
"         --io model --device read=7G,latency=80us,depth=32[,...]\n"
"         --os-cache keep|drop|direct (keep)  --hugepages\n"
"compute: --compute kernel|checksum|none (kernel)  --compute-us N\n"
"         --verify-bytes  --dense auto|resident|ring|skip (auto)\n"
"studies: --curve [lru|belady] (lru) [--contract A,B]  --bound  --stats\n"
"         --predict  --calibrate MODEL  --samples N (9)\n"
"output:  -o FILE  --force  -h, --help  -V, --version\n"
"\n"
"Exit status: 0 done, 2 trouble (an incomplete trace is trouble).\n"
};

int
main(int argc, char **argv)
{
	struct replay_options o;
	int first, status;

	fe_init(&command);
	replay_options(&o, argc, argv, &first);
	if (first < argc)
		replay_check_operand(&o, argv[first]);
	input_check(argv + first, argc - first);
	status = o.mode(&o, argv + first, argc - first);
	replay_options_free(&o);
	return (status);
}
