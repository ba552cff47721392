/** Entry point of the scheduler process. */
import { runProcess } from '#services/shared/lifecycle.ts';
import { startScheduler } from './start.ts';

void runProcess('scheduler', startScheduler);
