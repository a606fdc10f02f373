/* Shorter naps for GNU Backgammon 1.07, loaded before it with LD_PRELOAD.
 *
 * Its Python hands each question to a worker thread and asks for the answer every 10 ms by
 * g_usleep(10000), so that no more than a hundred questions a second get through. Here a wait
 * begins with naps of microseconds, and they grow to a millisecond while it lasts. What gnubg
 * computes is untouched.
 *
 *     cc -O2 -shared -fPIC -o fastpoll.so fastpoll.c
 */
#include <sys/prctl.h>
#include <time.h>

enum { FIRST_NAP = 4000, LONGEST_NAP = 1000000, SAME_WAIT = 10000 }; /* nanoseconds */

static long long now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

void g_usleep(unsigned long microseconds)
{
    static __thread long long woken;
    static __thread long nap;
    struct timespec rest = { microseconds / 1000000, microseconds % 1000000 * 1000 };

    if (microseconds >= 1000) {
        if (!nap)
            prctl(PR_SET_TIMERSLACK, 1UL, 0, 0, 0); /* else each nap is 50 microseconds longer */
        if (!nap || now() - woken > SAME_WAIT)
            nap = FIRST_NAP;
        else if (nap < LONGEST_NAP)
            nap += nap / 16;
        rest.tv_sec = 0;
        rest.tv_nsec = nap;
    }
    nanosleep(&rest, 0);
    woken = now();
}
