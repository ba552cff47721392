/** The process of the backend. */
import { runProcess } from '#services/shared/lifecycle.ts';
import { backendOptions, startBackend } from './start.ts';

void runProcess('backend', startBackend, backendOptions);
