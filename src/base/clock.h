/* clock.h -- the one place that reads a real clock.  Decisions never do; drivers and measurements may. */
#ifndef WNI_BASE_CLOCK_H
#define WNI_BASE_CLOCK_H

double wni_clock_seconds(void); /* monotonic, since some fixed moment */
double wni_clock_cpu_seconds(
    void); /* processor time of this process: what else runs on the machine does not count */

#endif
