/* Collectives under way, and how they share links: each first waits out its latency, then
 * moves its bytes as a fluid. All that move at a time share every link max-min fairly, with
 * no more than the rate that each would have alone; whenever one starts or ends, the rates of
 * the others are worked out anew. */
#pragma once

#include "sim/event_queue.h"
#include "sim/prepare.h"

typedef struct _Flows Flows;

/* Borrows both. Firings pushed to @queue have the flow's number as target. */
Flows *flows_new (const Prepared *prepared, const Network *network, EventQueue *queue);
void flows_free (Flows *flows);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Flows, flows_free)

/* Groups are numbered over all communicators. */
guint32 flows_number (const Flows *flows, guint communicator, guint group);
void flows_group (const Flows *flows, guint32 number, guint *communicator, guint *group);

/* The last rank of a group has come to @instruction. */
void flows_start (Flows *flows, guint32 number, guint32 instruction, SimTime when);

/* Takes a firing; TRUE where the group's collective is over. */
gboolean flows_fire (Flows *flows, const Firing *firing);

/* Works rates out anew once nothing more fires at the moment at which flows last started or ended.
 * To be called before the queue is asked for what comes next. */
void flows_share (Flows *flows);
