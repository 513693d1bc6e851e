/* The same scenario on hardware that is better in one respect. */
#pragma once

#include "report/what_if.h"
#include "study/study.h"

/* Alters @scenario, a shallow copy whose pointers stay. Times that [timing] gives change alike:
 * those of collectives with the network, of launches with the host. */
void what_if_apply (Scenario *scenario, WhatIfKind kind);

/* Makes the network @factor times as fast: NICs where there are several nodes, else the links
 * inside the node. */
void what_if_scale_network (Scenario *scenario, double factor);

/* Simulates all kinds and fills run->what_if; nothing where @run did not run, or took so much
 * work (@effort) that seven more runs would keep a user waiting. */
void what_if_study (ReportRun *run, const StudyEffort *effort, guint n_threads);
