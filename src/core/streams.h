/* streams.h -- who draws from which random stream.
 *
 * A stream is (study seed, trial number, purpose).  Purposes keep uses apart, so that a new draw in one place
 * does not shift every other result, and the random start is the same whichever method runs.  Numbers are
 * part of what makes old studies replay: never reuse or renumber one. */
#ifndef WNI_CORE_STREAMS_H
#define WNI_CORE_STREAMS_H

enum stream {
    STREAM_RANDOM = 1,  /* a configuration drawn uniformly: random search, and every method's random start */
    STREAM_SEARCH = 2,  /* a model-based searcher's own draws */
    STREAM_BRACKET = 3, /* which bracket a trial enters */
    STREAM_TABLE_SEED = 4, /* which repetition of a tabulated run a simulated trial sees */
    STREAM_NOISE = 5,      /* a synthetic black box's observation noise */
    STREAM_ENQUEUE = 6,    /* what an enqueued configuration left open */
    STREAM_GP_FIT = 11,    /* which values a fit is made of; keyed by how many have arrived */
    STREAM_GP_ROOM = 12,   /* which are kept when there are too many; keyed likewise */
    STREAM_GP_START = 13,  /* where the search of a fit begins; keyed likewise */
};

#endif
