/** The process of the scheduler. */
import { runProcess } from '#services/shared/lifecycle.ts';
import { startScheduler } from './start.ts';

void runProcess('scheduler', startScheduler);
