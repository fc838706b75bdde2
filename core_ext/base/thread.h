/* Threads of the system that run C code only. They are started by Python's portable layer, but know nothing of Python. */
#ifndef KOMADORI_THREAD_H
#define KOMADORI_THREAD_H
#include <Python.h>
#include <pythread.h>

/* All zero: never started. */
typedef struct {
    PyThread_type_lock ended;   /* taken while the thread runs, and after it was joined */
} Thread;

static inline int start_thread(Thread *thread, void (*run)(void *), void *argument)
{
    if (thread->ended == NULL) {
        thread->ended = PyThread_allocate_lock();
        if (thread->ended == NULL)
            return 0;
        PyThread_acquire_lock(thread->ended, WAIT_LOCK);
    }
    return PyThread_start_new_thread(run, argument) != PYTHREAD_INVALID_THREAD_ID;
}

static inline void end_thread(Thread *thread)
{
    PyThread_release_lock(thread->ended);
}

static inline void join_thread(Thread *thread)
{
    PyThread_acquire_lock(thread->ended, WAIT_LOCK);
}

static inline void free_thread(Thread *thread)
{
    if (thread->ended != NULL) {
        PyThread_release_lock(thread->ended);
        PyThread_free_lock(thread->ended);
        thread->ended = NULL;
    }
}
#endif
