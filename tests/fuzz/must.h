/* must.h -- a claim that a fuzz target makes about any input: what is not so ends the run as a finding. */
#ifndef TESTS_FUZZ_MUST_H
#define TESTS_FUZZ_MUST_H

#include <stdio.h>
#include <stdlib.h>

#define MUST(claim)                                                                                          \
    do {                                                                                                     \
        if (!(claim)) {                                                                                      \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #claim);                              \
            abort();                                                                                         \
        }                                                                                                    \
    } while (0)

#endif
