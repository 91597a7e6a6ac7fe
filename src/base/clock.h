/* clock.h -- the one place that reads a real clock.  Decisions never do; drivers and measurements may. */
#ifndef WNI_BASE_CLOCK_H
#define WNI_BASE_CLOCK_H

double wni_clock_seconds(void);        /* monotonic, since some fixed moment */
double wni_clock_thread_seconds(void); /* processor time of the calling thread */
double wni_clock_cpu_seconds(
    void); /* processor time of this process: what else runs on the machine does not count */
double wni_clock_wall(void); /* seconds since 1970; may jump, so it is noted for people and never compared */

/* Names this run of the machine: wni_clock_seconds() of two processes can be compared if they give the same
 * text.  "" where the system does not tell. */
enum { WNI_BOOT_MAX = 40 };
void wni_clock_boot(char out[WNI_BOOT_MAX]);

#endif
